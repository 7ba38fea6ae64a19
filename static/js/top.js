// What every page has: the button for the colours.
import { offerTheme } from "./theme.js";

offerTheme(document.getElementById("theme"));
