"""Takes parts out of the repository in the current folder. See parts.py for what a part is.

A mark is at the end of a line, in a comment of the file's language. A line with the first mark is the
part's, and so are all lines from one with the second to one with the third:

    # part: cors
    # part: cors {
    # }

A mark with several parts, such as cors,page, is about what needs all of them. In Markdown, the second and the third may also stand within a line, with the part's text between them.
"""
import os
import re
import subprocess

LINE = re.compile(r" *(?:#|//|<!--) part: ([a-z,-]+)(?: -->)?(?=$| \|$)")
BEGIN = re.compile(r"(?: *(?:#|//) part: ([a-z,-]+) \{|^<!-- part: ([a-z,-]+) \{ -->)$")
END = re.compile(r"(?: *(?:#|//) \}|^<!-- \} -->)$")
SPAN = re.compile(r"<!-- part: ([a-z,-]+) \{ -->(.*?)<!-- \} -->")
LOST = "<!-- a link was here -->"
LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def tracked():
    """Returns the files of the repository that have lines written by hand."""
    files = output("git", "ls-files", "-z").rstrip("\0").split("\0")
    return [file for file in files if not re.search(r"\.(png|sum|pem)$|requirements", file)]


def read(file):
    with open(file, encoding="utf-8", newline="") as opened:
        return opened.read()


def write(file, text):
    with open(file, "w", encoding="utf-8", newline="") as opened:
        opened.write(text)


def size():
    """Returns how large the repository is."""
    lines = {file: read(file).count("\n") for file in tracked()}
    is_test = re.compile(r"_test\.go$|^test/.*\.go$").search
    product = sum(count for file, count in lines.items() if re.match(r"(cmd|internal)/.*\.go$", file) and not is_test(file))
    tests = sum(count for file, count in lines.items() if is_test(file))
    files = len(output("git", "ls-files").splitlines())
    return f"{files} files, {sum(lines.values())} lines, {product} of them product in Go, {tests} its tests"


def unmarked(text, parts, keeps):
    """Returns a text without the marked lines of parts, and, unless it keeps them, without all marks."""
    def of(names):
        return any(name in parts for name in names.split(","))

    def span(match):
        if of(match[1]):
            return ""
        return match[0] if keeps else match[2]

    lines, taken = [], []  # taken says of each open block whether it leaves
    for line in text.split("\n"):
        rest, is_end = line, bool(taken and END.search(line))
        begin, single = BEGIN.search(line), LINE.search(line)
        leaves = any(taken)
        if begin:
            taken.append(of(begin[1] or begin[2]))
        if single and not begin:
            leaves = leaves or of(single[1])
        if is_end:
            taken.pop()
        if leaves or any(taken):
            continue
        if begin or single or is_end:
            rest = line if keeps else re.sub(r" +$", "", (BEGIN if begin else LINE if single else END).sub("", line))
            if not rest:
                continue
        lines.append(rest)
    if taken:
        raise ValueError("a block of a part has no end")
    return SPAN.sub(span, "\n".join(lines))


def without_names(file, text, names):
    """Returns a text without what has one of these names."""
    if re.search(r"\.(yaml|yml|go)$", file):
        for name in names:
            text = text.replace(" ${%s}" % name, "")
    for name in names:
        if re.search(r"\.ya?ml$", file):
            text = re.sub(rf"^( *)(?:#[^\n]*\n\1)*{name}:[^\n]*\n(?:\1 [^\n]*\n)*", "", text, flags=re.M)
        elif file.endswith("_test.go"):
            text = re.sub(rf"^\t+\{{[^\n]*\b{name}\b[^\n]*\}},(?: //[^\n]*)?\n", "", text, flags=re.M)
    return text


def without_uses(text, folders):
    """Returns Go without the imports of packages, and without each statement that calls them."""
    for folder in folders:
        text, imports = re.subn(rf'^\t"[^"\n]+/{folder}"\n', "", text, flags=re.M)
        if imports:
            call = rf"\b{os.path.basename(folder)}\.[A-Z]"
            check = r"(?:\1if err != nil \{\n(?:\1\t[^\n]*\n)+\1\}\n)?"
            text = re.sub(rf"^(\t+)[^\n]*{call}[^\n]*\n{check}", "", text, flags=re.M)
    return text


def without_packages(text, folders):
    """Returns a text without the names of packages in lists such as {api,cors}."""
    for folder in folders:
        name = os.path.basename(folder)
        text = re.sub(rf",{name}(?=[,}}])|(?<=\{{){name},", "", text)
    return text


def without_sections(text, headings):
    """Returns a document without sections."""
    for heading in headings:
        begin = re.search(rf"^(#+) {re.escape(heading)}\n", text, flags=re.M)
        if not begin:
            continue
        end = re.compile(rf"^#{{1,{len(begin[1])}}} |\Z", flags=re.M).search(outside_code(text), begin.end())
        text = text[:begin.start()] + text[end.start():]
    return text.rstrip("\n") + "\n"


def outside_code(text):
    """Returns a document of the same length, with spaces in place of its blocks of code."""
    return re.sub(r"^ *```.*?^ *```$", lambda code: re.sub("[^\n]", " ", code[0]), text, flags=re.M | re.S)


def places():
    """Returns all files, folders and headings that a link can lead to."""
    found = set()
    for file in output("git", "ls-files").splitlines():
        found.add(file)
        while file := os.path.dirname(file):
            found.add(file)
    for file in [file for file in found if file.endswith(".md")]:
        for heading in re.findall(r"^#+ (.*)", outside_code(read(file)), flags=re.M):
            found.add(file + "#" + re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-"))
    return found


def without_links(file, text, lost):
    """Returns a document without links to lost places. LOST follows the words of each.

    An item leaves if it begins with such a link, and a row if one of its cells is nothing but one.
    """
    def is_lost(match):
        path, mark, heading = match[match.lastindex].partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(file), path)) if path else file
        return path in lost or path + mark + heading in lost

    def words(match):
        return "" if match[0].startswith("!") else match[1] + LOST

    lines = []
    for line in text.split("\n"):
        targets = re.finditer(rf"(?:^- |^\d+\. ){LINK.pattern}|\| {LINK.pattern}(?= \|)", line)
        if not any(is_lost(target) for target in targets):
            lines.append(LINK.sub(lambda match: words(match) if is_lost(match) else match[0], line))
    return "\n".join(lines)


def take_out(parts, keeps):
    """Takes parts out of the files. Keeps the marks of the others if it should."""
    before = places()
    names = [name for part in parts.values() for name in part.names]
    gone = []
    for name, part in parts.items():
        files = output("git", "ls-files", "--", *part.paths).splitlines()
        if not files:
            raise ValueError(f"there is no {name} here")
        subprocess.run(["git", "rm", "-r", "--quiet", "--", *files], check=True)
        gone += files + [path.rstrip("/") for path in part.paths]
    for file in tracked():
        if file.startswith("tools/rename/"):
            continue
        old = read(file)
        text = without_names(file, unmarked(old, parts, keeps), names)
        if file == ".golangci.yml":
            text = without_packages(text, [path for path in gone if path.startswith("internal/")])
        if file.endswith(".go"):
            text = without_uses(text, gone)
        if file.endswith(".md"):
            text = without_sections(text, [heading for part in parts.values() for heading in part.sections.get(file, [])])
            text = "".join(line for line in text.splitlines(True) if not line.startswith(tuple(path + " " for path in gone)))
            text = re.sub(r"\n{3,}", "\n\n", text)
        if text != old:
            write(file, text)
    lost = before - places()
    for file in tracked():
        if file.endswith(".md"):
            old = read(file)
            text = without_links(file, old, lost)
            if text != old:
                write(file, text)


def drop_imports(stderr):
    """Removes the unused imports that go vet names. Returns whether there were some."""
    unused = re.findall(r'^(?:vet: )?(\S+?):(\d+):\d+: "[^"]+" imported and not used', stderr, flags=re.M)
    for file, number in sorted(set(unused), key=lambda place: -int(place[1])):
        lines = read(file).splitlines(True)
        del lines[int(number) - 1]
        write(file, "".join(lines))
    return bool(unused)


def mentions(parts):
    """Returns the sentences that still have a word of a part, or lost a link, as file:line: text."""
    words = re.compile("|".join(part.words for part in parts.values()))
    found = []
    for file in tracked():
        if file.startswith("tools/rename/"):
            continue
        text = read(file)
        for number, line in enumerate(text.splitlines(), 1):
            for sentence in re.split(r"(?<=[.|]) ", line.strip()):
                if words.search(sentence) or LOST in sentence:
                    found.append(f"{file}:{number}: {sentence.replace(LOST, '')}")
        if LOST in text:
            write(file, text.replace(LOST, ""))
    return found
