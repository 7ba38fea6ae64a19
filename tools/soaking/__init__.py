"""A long time with good, bad and hostile visitors, and a hand that pulls plugs."""
