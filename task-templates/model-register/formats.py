"""Whether a file is what its format says, as far as that is seen without the format's library: a file that was cut off, or
is something else, is not registered."""

import json
import pickletools
import zipfile


class WrongFormat(Exception):
    """What is wrong with the file."""


def check(path, kind):
    """Fails if the file at `path`, or the only file of this kind in a folder, is no model of this kind."""
    if kind == "other":
        return
    if path.is_dir():
        return check_folder(path, kind)
    if path.stat().st_size == 0:
        raise WrongFormat("the file is empty")
    CHECKS[kind](path)


def check_folder(folder, kind):
    if kind == "tensorflow" and not (folder / "saved_model.pb").is_file():
        raise WrongFormat("it has no saved_model.pb")
    if kind == "onnx" and (files := sorted(folder.glob("*.onnx"))):
        return check_onnx(files[0])
    if not any(folder.iterdir()):
        raise WrongFormat("the folder is empty")
    if kind == "onnx":
        raise WrongFormat("it has no file that ends with .onnx")


def check_onnx(path):
    # ModelProto: 1 is the version of the format, 7 the graph.
    fields = set(protobuf_fields(path))
    if not {1, 7} <= fields:
        raise WrongFormat("it has no graph")


def protobuf_fields(path):
    """The numbers of a message's fields. Their content is passed over, for it may be gigabytes."""
    end = path.stat().st_size
    with open(path, "rb") as file:
        while file.tell() < end:
            number, wire = divmod(varint(file), 8)
            if wire == 0:
                varint(file)
            elif wire in (1, 2, 5):
                file.seek({1: 8, 5: 4}.get(wire) or varint(file), 1)
            else:
                raise WrongFormat("it is no protocol buffer")
            if number == 0:
                raise WrongFormat("it is no protocol buffer")
            if file.tell() > end:
                raise WrongFormat("it was cut off")
            yield number


def varint(file):
    value = 0
    for shift in range(0, 70, 7):
        byte = file.read(1)
        if not byte:
            raise WrongFormat("it was cut off")
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return value
    raise WrongFormat("it is no protocol buffer")


def check_xgboost(path):
    with open(path, "rb") as file:
        start = file.read(4096).lstrip()
    if not start.startswith(b"{"):
        raise WrongFormat("it is neither JSON nor UBJSON; the old binary format is no longer read")
    if start[1:2] in b"\"} \t\r\n":
        try:
            found = json.loads(path.read_bytes())
        except ValueError as error:
            raise WrongFormat(f"it is no whole JSON: {error}") from None
        if "learner" not in found:
            raise WrongFormat("it has no `learner`")
        return
    with open(path, "rb") as file:
        file.seek(-1, 2)
        if file.read() != b"}":
            raise WrongFormat("it was cut off")
    if b"learner" not in path.read_bytes():
        raise WrongFormat("it has no `learner`")


def check_lightgbm(path):
    text = path.read_bytes()
    if not text.startswith(b"tree") or b"\nend of trees" not in text:
        raise WrongFormat("it does not go from `tree` to `end of trees`")


def check_torchscript(path):
    names = check_zip(path)
    if not any(name.endswith("/constants.pkl") for name in names):
        raise WrongFormat("it has weights alone, without a program; its format is pytorch")


def check_pytorch(path):
    with open(path, "rb") as file:
        # Before PyTorch 1.6, and still on demand, it was a row of pickles.
        if file.read(2)[:1] == b"\x80":
            return
    check_zip(path)


def check_zip(path):
    """The names in a ZIP archive, whose list is at its end."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except zipfile.BadZipFile:
        raise WrongFormat("it is no ZIP archive, or was cut off") from None


def check_sklearn(path):
    if path.suffix == ".skops":
        if "schema.json" not in check_zip(path):
            raise WrongFormat("it has no schema.json")
        return
    with open(path, "rb") as file:
        start = file.read(2)
        if start[:1] != b"\x80":
            # joblib compresses: zlib, gzip, bzip2, xz, lz4.
            if start[:1] == b"x" or start in (b"\x1f\x8b", b"BZ", b"\xfd7", b"\x04\x22"):
                return
            raise WrongFormat("it is no pickle")
    if path.suffix == ".joblib":
        # Has arrays between the pickle's opcodes.
        return
    try:
        # Looks at the opcodes; nothing is loaded.
        with open(path, "rb") as file:
            for _ in pickletools.genops(file):
                pass
    except ValueError as error:
        raise WrongFormat(f"it is no whole pickle: {error}") from None


def check_tensorflow(path):
    with open(path, "rb") as file:
        start = file.read(8)
    if path.suffix == ".keras":
        check_zip(path)
    elif path.suffix == ".h5" and start != b"\x89HDF\r\n\x1a\n":
        raise WrongFormat("it is no HDF5")
    elif path.suffix == ".tflite" and start[4:8] != b"TFL3":
        raise WrongFormat("it is no TensorFlow Lite")


CHECKS = {
    "onnx": check_onnx,
    "xgboost": check_xgboost,
    "lightgbm": check_lightgbm,
    "torchscript": check_torchscript,
    "pytorch": check_pytorch,
    "sklearn": check_sklearn,
    "tensorflow": check_tensorflow,
}
