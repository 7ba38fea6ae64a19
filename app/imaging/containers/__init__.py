"""One module per container. Each reads what the header says and hands the decoder nothing but the picture.

Metadata is where hostile and merely odd files do their harm: compressed text that inflates to gigabytes, EXIF
directories that point at themselves, tags that claim the whole file over and over. So every reader here takes the
orientation and the colour profile out by itself, within fixed bounds, and passes on a container stripped to its
pixels. The decoders' own readers of metadata never run.

Pillow's format classes are called directly, not by ``Image.open``: that would add Pillow's own limit, a warning
between 89 and 179 megapixels and an error above, which could only be moved by changing ``Image.MAX_IMAGE_PIXELS``
for the whole process. Our limits are checked between ``open_upload`` and ``Upload.load``.
"""
