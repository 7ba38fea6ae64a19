"""How far apart two pictures of the same thing are. Pure: numpy and OpenCV, values in, numbers out.

A is the picture to be met and B the one that is judged. Both are (H, W, 3) uint8 sRGB of one size; levels are those of
8 bit, 0 to 255.
"""
