"""Small networks that 8 bits find hard, one cause each: trained in seconds on data that a formula makes.

    networks = load(["stft_power"], Path("build/benchmarks/hard"))      # trained once, then read from the folder
    task = networks["stft_power"]                                       # in the form of the zoo's tasks

A builder (`BUILDERS` of layers.py and signals.py) makes a Recipe: a torch module, data, labels. All labels are classes,
of a sample or of each of its steps; the score is the share of right ones, as a fraction. Needs torch.
"""
