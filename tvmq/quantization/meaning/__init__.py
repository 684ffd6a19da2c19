"""Meaning of outputs: what people read from them, and how much of that another module keeps.

    recognition.py     kinds of outputs, by the structure of the float module
    reading.py         readings: a signal and an error in the terms of a kind
    detections.py      boxes with scores, sorted or of a dense head
    columns.py         columns of their rows: box, score, class
    scales.py          heads of several outputs, for each scale its own
    places.py          rows of a dense head whose boxes are not decoded
    boxes.py           overlap, suppression and matching of boxes
    peaks.py           peaks of heat maps, and what is read at them
    value_readings.py  classes, strings, directions, masks, numbers
    agreement.py       figures of two sets of outputs
    decoders.py        boxes of the outputs of a YOLO
    mean_precision.py  mean average precision against labels
"""
