"""AnimeBooth: a photo goes in, an anime picture comes out, on an ordinary CPU."""
