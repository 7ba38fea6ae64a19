"""The networks the workshop knows, in PyTorch. Input and output are NCHW float32, RGB in [-1, 1]."""
