import cubeloom

cubeloom.model("digits", "model.onnx", metrics={"accuracy": 0.97})
