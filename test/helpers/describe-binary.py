"""Prints as JSON what the tests want to know of the addon whose path is given."""

import json
import sys

import lief


def elf(binary):
    dynamic = {entry.tag.name: entry for entry in binary.dynamic_entries}

    def has(tag, flag):
        return tag in dynamic and dynamic[tag].has(flag)

    flags = lief.ELF.DynamicEntryFlags.FLAG
    segments = list(binary.segments)
    writable, executable = lief.ELF.Segment.FLAGS.W, lief.ELF.Segment.FLAGS.X
    symbols = list(binary.dynamic_symbols)
    return {
        "exports": [symbol.name for symbol in symbols if symbol.exported],
        "imports": [symbol.name for symbol in symbols if symbol.name and symbol.shndx == 0],
        "libraries": list(binary.libraries),
        "versions": sorted(
            {
                auxiliary.name
                for requirement in binary.symbols_version_requirement
                for auxiliary in requirement.get_auxiliary_symbols()
            }
        ),
        "hardening": {
            "bindNow": has("FLAGS", flags.BIND_NOW) or has("FLAGS_1", flags.NOW),
            "noDelete": has("FLAGS_1", flags.NODELETE),
            "relro": any(segment.type.name == "GNU_RELRO" for segment in segments),
            "stackNotExecutable": any(
                segment.type.name == "GNU_STACK" and not segment.has(executable)
                for segment in segments
            ),
            "nothingWritableExecutable": not any(
                segment.has(writable) and segment.has(executable) for segment in segments
            ),
            "noTextRelocations": "TEXTREL" not in dynamic,
        },
        "leftOver": [section.name for section in binary.sections if is_left_over(section.name)]
        + [tag for tag in ("RPATH", "RUNPATH", "SONAME") if tag in dynamic],
    }


def is_left_over(section):
    return section in (".symtab", ".strtab") or section.startswith(".debug")


def macho(binary):
    minimum = binary.build_version
    exported = [symbol for symbol in binary.symbols if symbol.has_export_info]
    local = [
        symbol.name
        for symbol in binary.symbols
        if not symbol.has_export_info
        and not symbol.has_binding_info
        and symbol.value != 0
        # The linker's own, for calls over long distances.
        and not symbol.name.endswith("__thunk")
    ]
    names = [library.name for library in binary.libraries if library.command.name != "ID_DYLIB"]
    return {
        "exports": [symbol.name for symbol in exported],
        "imports": [symbol.name for symbol in binary.imported_symbols],
        "libraries": names,
        "minimumSystem": ".".join(map(str, minimum.minos[:2])),
        "platform": minimum.platform.name,
        "isSigned": binary.has_code_signature and binary.code_signature.data_size > 0,
        "installName": [
            library.name for library in binary.libraries if library.command.name == "ID_DYLIB"
        ],
        "hardening": {
            "nothingWritableExecutable": not any(
                segment.init_protection & 6 == 6 for segment in binary.segments
            ),
            "positionIndependent": binary.is_pie or binary.header.file_type.name == "DYLIB",
        },
        "leftOver": local,
    }


def pe(binary):
    optional = binary.optional_header
    characteristics = {each.name for each in optional.dll_characteristics_lists}
    delayed = list(binary.delay_imports)
    entries = [entry for library in binary.imports for entry in library.entries]
    return {
        "exports": [entry.name for entry in binary.get_export().entries],
        "imports": [entry.name for library in delayed for entry in library.entries],
        "systemImports": [entry.name for entry in entries],
        "libraries": [library.name for library in binary.imports],
        "delayedLibraries": [library.name for library in delayed],
        "minimumSystem": "{}.{}".format(
            optional.major_subsystem_version, optional.minor_subsystem_version
        ),
        "hardening": {
            "addressesRandom": "DYNAMIC_BASE" in characteristics,
            "addressesRandomIn64Bits": "HIGH_ENTROPY_VA" in characteristics,
            "dataNotExecutable": "NX_COMPAT" in characteristics,
            "relocatable": "RELOCS_STRIPPED"
            not in {each.name for each in binary.header.characteristics_list},
        },
        "leftOver": [section.name for section in binary.sections if is_left_over(section.name)]
        + [entry.type.name for entry in binary.debug if entry.type.name == "CODEVIEW"],
    }


def describe(path):
    binary = lief.parse(path)
    if isinstance(binary, lief.MachO.FatBinary):
        binary = binary.at(0)
    kind = binary.format.name
    details = {"ELF": elf, "MACHO": macho, "PE": pe}[kind](binary)
    return {"format": kind, "cpu": cpu_of(binary, kind), **details}


def cpu_of(binary, kind):
    if kind == "ELF":
        return binary.header.machine_type.name
    if kind == "MACHO":
        return binary.header.cpu_type.name
    return binary.header.machine.name


# Its remarks on what it does not find.
lief.logging.disable()
print(json.dumps(describe(sys.argv[1])))
