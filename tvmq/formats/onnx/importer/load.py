"""Reading ONNX files: from a path, bytes or a ModelProto to a checked ModelProto with all weights inside."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tvmq.base.foreign_errors import clause
from tvmq.base.memory import usable_memory
from tvmq.base.regular_file import check_regular
from tvmq.base.text import printable_name
from tvmq.errors import ModelError
from tvmq.formats.onnx.importer.bodies import subgraphs
from tvmq.formats.onnx.importer.external_data import load_external
from tvmq.formats.onnx.importer.order import sort_nodes
from tvmq.formats.onnx.importer.structure import check_structure
from tvmq.graph.names import UniqueNames

if TYPE_CHECKING:
    import onnx

OLDEST_OPSET, NEWEST_OPSET = 11, 28
OLDEST_CONVERTED, CONVERTED_OPSET = 7, 11  # opsets that are converted, and to which: the next that is read as it is
NO_NAMES = frozenset({"doc_string", "metadata_props", "external_data"})  # texts for people, and paths


def read_model(
    source: str | Path | bytes | onnx.ModelProto, folder: Path | None = None, max_bytes: int | None = None
) -> onnx.ModelProto:
    """A ModelProto of our own (the caller's is never changed), its opset within 11..28, all nodes named.

    folder      where files are that tensors name; None: beside a path, of bytes and protos none is read
    max_bytes   of a tensor that is read from there; None: the memory of this machine
    Names are made printable, see text.py.
    raises ModelError if the file is missing, truncated or not an ONNX model, if external data are missing, or if
    the opset is too new or cannot be converted.
    """
    import onnx

    if isinstance(source, onnx.ModelProto):
        model = onnx.ModelProto()
        model.CopyFrom(source)
        where = "model"
    elif isinstance(source, bytes | bytearray | memoryview):
        where = "model bytes"
        model = _parse(bytes(source), where)
    elif isinstance(source, str | Path):
        where = str(source)
        model = _read_file(Path(source))
        folder = Path(source).parent if folder is None else folder
    else:
        raise ModelError(
            f"from_onnx: a model must be a path, bytes or an onnx.ModelProto, got {type(source).__name__}; pass one of "
            "these"
        )
    where = printable_name(where)
    _write_printable_names(model, where)
    _check_graph(model, where)
    _unify_domains(model)
    sort_nodes(model.graph)
    load_external(model, folder, where, max_bytes or usable_memory())
    _name_nodes(model)
    check_structure(model, where)
    _check_types(model, where)
    _check_weights(model, where)
    model = _normalize_opset(model, where)
    _drop_defaults(model)
    _name_nodes(model)
    _check_names(model, where)
    return model


def _read_file(path: Path) -> onnx.ModelProto:
    if not path.exists():
        raise ModelError(f"from_onnx: there is no file '{path}'; check the path")
    if path.is_dir():
        raise ModelError(f"from_onnx: '{path}' is a folder; pass the path of the .onnx file in it")
    try:
        check_regular(path)
        data = path.read_bytes()
    except OSError as error:
        raise ModelError(f"from_onnx: '{path}' cannot be read: {error.strerror}; check its permissions") from error
    return _parse(data, str(path))


def _parse(data: bytes, where: str) -> onnx.ModelProto:
    import onnx

    try:
        return onnx.load_model_from_string(data)
    except Exception as error:  # protobuf's DecodeError
        raise ModelError(
            f"from_onnx: '{where}' ({len(data)} bytes) is not an ONNX model or is truncated; copy or export it again"
        ) from error


def _write_printable_names(message: Any, where: str) -> None:
    """Make all names printable (in place); other texts stay.

    Names that are not UTF-8 are refused: protobuf reads them, and returns bytes or errors wherever they are used.
    """
    try:
        for field, value in message.ListFields():
            is_single = hasattr(value, "ListFields") or isinstance(value, str | bytes)
            parts = [value] if is_single else value
            if field.type == field.TYPE_STRING:
                _write_printable(message, field.name, list(parts), is_single)
            elif field.type == field.TYPE_MESSAGE and field.name not in NO_NAMES:
                for part in parts:
                    _write_printable_names(part, where)
    except UnicodeError as error:
        raise ModelError(
            f"from_onnx: '{where}' contains a name that is not valid UTF-8; copy or export it again"
        ) from error


def _write_printable(message: Any, field: str, texts: list[Any], is_single: bool) -> None:
    if not all(isinstance(text, str) for text in texts):
        raise UnicodeError
    names = [printable_name(text) for text in texts]
    if names == texts or field in NO_NAMES:
        return
    if is_single:
        setattr(message, field, names[0])
    else:
        getattr(message, field)[:] = names


def _check_graph(model: onnx.ModelProto, where: str) -> None:
    """Refuse empty messages: protobuf parses many byte strings that are not models as such."""
    if not model.HasField("graph") or not model.opset_import or not model.graph.output:
        raise ModelError(f"from_onnx: '{where}' has no ONNX graph (no operator set or outputs); export it again")
    if model.graph.sparse_initializer:
        raise ModelError(f"from_onnx: '{where}' has sparse weights; export it with dense weights")


def _unify_domains(model: onnx.ModelProto) -> None:
    """ONNX's own operators have two names of their domain, "" and "ai.onnx"; only "" remains (in place).

    Inference and the reference know them by that alone, and what they do not know is neither typed nor folded. An
    operator set that is named twice in one version is kept once: skl2onnx and onnx.compose write such files.
    """
    for owner in [model, *model.functions]:
        for entry in owner.opset_import:
            entry.domain = "" if entry.domain == "ai.onnx" else entry.domain
        versions = dict.fromkeys((entry.domain, entry.version) for entry in owner.opset_import)
        del owner.opset_import[:]
        for domain, version in versions:
            owner.opset_import.add(domain=domain, version=version)
    if model.opset_import and all(entry.domain for entry in model.opset_import):
        model.opset_import.add(domain="", version=opset_of(model))  # of what replaces operators of other domains
    for graph in [model.graph, *model.functions]:
        _clear_domains(graph)


def _clear_domains(graph: Any) -> None:
    for node in graph.node:
        if node.domain == "ai.onnx":
            node.domain = ""
        for inner in subgraphs(node):
            _clear_domains(inner)


def opset_of(model: onnx.ModelProto) -> int:
    """Version of the default operator set."""
    versions = [entry.version for entry in model.opset_import if entry.domain == ""]
    return versions[0] if versions else NEWEST_OPSET


def _normalize_opset(model: onnx.ModelProto, where: str) -> onnx.ModelProto:
    version = opset_of(model)
    if version > NEWEST_OPSET:
        raise ModelError(
            f"from_onnx: '{where}' uses opset {version}, but the newest supported one is {NEWEST_OPSET}; "
            f"export it with opset_version={NEWEST_OPSET} or lower"
        )
    if version < OLDEST_CONVERTED:
        raise ModelError(
            f"from_onnx: '{where}' uses opset {version}, but the oldest one that can be converted is "
            f"{OLDEST_CONVERTED}; export it with opset_version={OLDEST_OPSET} or higher"
        )
    return model if version >= OLDEST_OPSET else _convert_opset(model, where)


def _convert_opset(model: onnx.ModelProto, where: str) -> onnx.ModelProto:
    """The model in opset CONVERTED_OPSET, with the layer names that ONNX's converter drops."""
    from onnx import version_converter

    _list_weights(model)
    try:
        converted = version_converter.convert_version(model, CONVERTED_OPSET)
    except Exception as error:  # RuntimeError and the converter's own type
        raise ModelError(
            f"from_onnx: '{where}' uses opset {opset_of(model)}, which cannot be converted to "
            f"{CONVERTED_OPSET}{clause(error)}; export it with opset_version={OLDEST_OPSET} or higher"
        ) from error
    names = {output: node.name for node in model.graph.node for output in node.output}
    upsamples = iter([node.name for node in model.graph.node if node.op_type == "Upsample"])
    for node in converted.graph.node:
        if node.op_type == "Resize":
            _resize_of_old_opset(node)
            node.name = node.name or next(upsamples, "")
        node.name = node.name or names.get(node.output[0], "")
    return converted


def _list_weights(model: onnx.ModelProto) -> None:
    """Weights among the inputs, where ONNX's converter looks for them (in place), as files before IR 4 have them."""
    from onnx import helper

    listed = {value.name for value in model.graph.input}
    for tensor in model.graph.initializer:
        if tensor.name not in listed:
            model.graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))


def _drop_defaults(model: onnx.ModelProto) -> None:
    """Leave out inputs that have a value (in place): nobody feeds them, and they are constants."""
    import onnx

    weights = {tensor.name for tensor in model.graph.initializer}
    kept = onnx.GraphProto()
    kept.input.extend(value for value in model.graph.input if value.name not in weights)
    del model.graph.input[:]
    model.graph.input.extend(kept.input)


def _resize_of_old_opset(node: onnx.NodeProto) -> None:
    """Upsample and Resize 10 map positions by x / scale; the converter leaves the other default of Resize."""
    from onnx import helper

    present = {attribute.name for attribute in node.attribute}
    for name, value in (("coordinate_transformation_mode", "asymmetric"), ("nearest_mode", "floor")):
        if name not in present:
            node.attribute.append(helper.make_attribute(name, value))


def _check_types(model: onnx.ModelProto, where: str) -> None:
    """Refuse element types that ONNX does not have."""
    import onnx

    graph = model.graph
    for value in [*graph.input, *graph.output, *graph.value_info]:
        code = value.type.tensor_type.elem_type
        if code not in onnx.TensorProto.DataType.values():
            raise ModelError(
                f"from_onnx: '{value.name}' of '{where}' has the unknown element type {code}; export it again"
            )


def _check_weights(model: onnx.ModelProto, where: str) -> None:
    """Refuse weights whose bytes do not fill their shape."""
    from onnx import numpy_helper

    for tensor in model.graph.initializer:
        try:
            numpy_helper.to_array(tensor)
        except Exception as error:  # NumPy's and onnx's own
            raise ModelError(
                f"from_onnx: weight '{tensor.name}' of '{where}' is damaged or "
                f"truncated{clause(error)}; copy the model and its data files again"
            ) from error


def _name_nodes(model: onnx.ModelProto) -> None:
    """Nodes without a name are called <operator>_<position in the graph>; of equal names the later get a number."""
    names = {node.name for node in model.graph.node}
    unique, seen = UniqueNames(names), set()
    for index, node in enumerate(model.graph.node):
        if not node.name or node.name in seen:
            node.name = unique(node.name or f"{node.op_type}_{index}")
        seen.add(node.name)


def _check_names(model: onnx.ModelProto, where: str) -> None:
    """Refuse a graph that reads a value which no input, weight or earlier node provides."""
    graph = model.graph
    known = {"", *(value.name for value in graph.input), *(tensor.name for tensor in graph.initializer)}
    for node in graph.node:
        for name in node.input:
            if name not in known:
                raise ModelError(
                    f"from_onnx: layer '{node.name}' ({node.op_type}) of '{where}' reads '{name}', which no "
                    "input, weight or earlier layer provides; the model is damaged, export it again"
                )
        for name in filter(None, node.output):
            if name in known:
                raise ModelError(
                    f"from_onnx: layer '{node.name}' ({node.op_type}) of '{where}' produces '{name}', which is "
                    "already an input, a weight or a result of an earlier layer; the model is damaged, export it again"
                )
            known.add(name)
    for value in graph.output:
        if value.name not in known:
            raise ModelError(
                f"from_onnx: no layer produces output '{value.name}' of '{where}'; the model is damaged, export it "
                "again"
            )
