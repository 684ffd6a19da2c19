"""The service: POST /scores takes a picture, 256 float32, and gives ten scores, float32.

The environment says what it serves: ENGINE is tvmq or onnxruntime, MODEL the folder of a library or an ONNX file.
"""

import os

import numpy as np
from fastapi import FastAPI, HTTPException, Request, Response

if os.environ["ENGINE"] == "tvmq":
    import tvmq

    model = tvmq.load(os.environ["MODEL"], num_threads=1)
else:
    import onnxruntime

    session = onnxruntime.InferenceSession(os.environ["MODEL"], providers=["CPUExecutionProvider"])

    def model(picture: np.ndarray) -> np.ndarray:
        """Scores of a picture."""
        return session.run(None, {"image": picture})[0]


app = FastAPI()


@app.post("/scores")
async def score(request: Request) -> Response:
    """Scores of the picture in the body; the header "worker" is the number of the process."""
    body = await request.body()
    if len(body) != 16 * 16 * 4:
        raise HTTPException(400, f"a picture is 16 x 16 float32, 1024 bytes. Got {len(body)} bytes instead")
    scores = model(np.frombuffer(body, np.float32).reshape(1, 1, 16, 16))
    return Response(scores.tobytes(), headers={"worker": str(os.getpid())})
