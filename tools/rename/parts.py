"""The parts that a clone can do without, and how to take them out.

A part is the files in PARTS, and marked lines in other files. A mark is a comment at the end of a line, in the
language of the file. The first is for a single line, the two others are for all lines from one to the other:

    # part: cors
    # part: cors {
    # }

A mark with several parts, such as cors,page, is on what needs all of them.
"""
import os
import re
import subprocess

PARTS = {  # the files of git, with a slash at the end of a folder
    "jwt": ["internal/jwt/", "cmd/*/jwt_test.go", "docs/identity-provider.md"],
    "page": ["internal/page/", "cmd/plantstore/page_test.go", "cmd/plantstore/page_cors_test.go", "docs/page.png"],
    "cors": ["internal/cors/", "cmd/plantstore/cors_test.go", "cmd/plantstore/page_cors_test.go", "test/deployment/cors_test.go"],
    "bench": ["tools/bench/", "docs/performance.svg"],
    "mutation": ["tools/mutation/"],
    "local-aws": [
        "test/deployment/", "tools/local/aws*", "tools/local/greet", "tools/requirements/aws.txt", "environments/local.yaml",
        "docs/local-aws.md",
    ],
    "github": [
        ".github/workflows/deploy.yml", "deploy/role.yaml", "deploy/workflow_test.go", "docs/github.md",
        "test/template/deployrole_test.go", "test/template/deployworkflow_test.go",
        # The rehearsal deploys with the role.
        "test/deployment/canary_test.go", "test/deployment/cors_test.go", "test/deployment/deletion_test.go",
        "test/deployment/deployment_test.go", "test/deployment/gateway_test.go", "test/deployment/operation_test.go",
        "test/deployment/rehears*", "test/deployment/removal_test.go", "test/deployment/restore_test.go",
    ],
    "rename": ["tools/rename/"],  # knows only the names of this repository, so it leaves when they change
    "restore": ["deploy/restore*", "test/deployment/restore_test.go", "docs/restore.md"],
}

WORDS = {  # of a sentence that may be about a part
    "jwt": r"JWT|identity provider|\b[Ii]ssuers?\b|TokenIssuer|TokenAudience",
    "page": r"internal/page|page\.png|\bchromium|chromedp|Swagger",
    "cors": r"\bCORS\b|rs/cors|AllowedOrigins|ALLOW_ORIGIN|preflight",
    "bench": r"[Bb]enchmark|make bench|tools/bench",
    "mutation": r"[Mm]utation|make mutate|gremlins",
    "local-aws": r"make aws|[Ll]ocal AWS|tools/local/aws|ministack|ENV=local|[Rr]ehears|test/deployment",
    "github": r"GitHub|GITHUB_(?!BASE)|\bgh (api|workflow)|deploy\.yml|role\.yaml|deployment role|[Rr]ehears",
    "rename": r"tools/rename",
    "restore": r"deploy/restore|\b[Rr]estor(e|es|ed|ing)\b",
}

COMMENT = r" *(?:#|//|<!--) "
MARK = re.compile(COMMENT + r"part: ([a-z,-]+)( \{)?(?: -->)?(?=$| \|$)")  # | ends the row of a table
END = re.compile(COMMENT + r"\}(?: -->)?$")


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def chosen(names):
    """Returns the parts in a list of names with commas between them."""
    given = names.split(",")
    for name in given:
        if name not in PARTS:
            raise ValueError(f"there is no part {name}; parts: {','.join(PARTS)}")
    return given


def texts():
    """Returns each file of the repository that is a text written by hand, with its lines."""
    for file in output("git", "ls-files", "-z", "--", ".", ":!tools/rename").rstrip("\0").split("\0"):
        if os.path.islink(file):
            raise ValueError(f"{file} is a symbolic link, which may lead out of this folder")
        if not re.search(r"\.(png|sum|pem)$|requirements|testdata/stack", file):
            with open(file, encoding="utf-8", newline="") as opened:
                text = opened.read()
            if "\r" in text:
                raise ValueError(f"{file} has lines that end with a carriage return: set git's core.autocrlf to false, and clone again")
            yield file, text


def size():
    """Returns how large the repository is."""
    counts = {"files": 0, "lines": 0, "of product Go": 0, "of tests in Go": 0}
    for file, text in texts():
        lines = text.count("\n")
        counts["files"] += 1
        counts["lines"] += lines
        if re.search(r"_test\.go$|^test/.*\.go$", file):
            counts["of tests in Go"] += lines
        elif re.match(r"(cmd|internal)/.*\.go$", file):
            counts["of product Go"] += lines
    return ", ".join(f"{count} {what}" for what, count in counts.items())


def unmarked(text, taken, keeps):
    """Returns a text without the marked lines of taken parts, and without all marks unless it keeps them.

    A step of a recipe keeps its number, because others name it."""
    lines = []
    leaving = []  # for each block that has begun and not ended: whether it leaves
    for line in text.split("\n"):
        mark = MARK.search(line)
        leaves = bool(mark) and not set(taken).isdisjoint(mark[1].split(","))
        begins, ends = bool(mark and mark[2]), bool(leaving and END.search(line))
        if begins:
            leaving.append(leaves)
        leaves = leaves or any(leaving)
        if ends:
            leaving.pop()
        if leaves:
            step = re.match(r"\d+\. ", line)
            if mark and step:
                lines.append(step[0] + "Nothing to do: this step is about a part that is not here.")
            continue
        if keeps or not (mark or ends):
            lines.append(line)
            continue
        rest = (MARK if mark else END).sub("", line).rstrip(" ")
        if rest:
            lines.append(rest)
    if leaving:
        raise ValueError("a block of a part has no end")
    return "\n".join(lines)


def take_out(taken, keeps):
    """Takes parts out. Keeps the marks of the others if it should."""
    for name in taken:
        files = output("git", "ls-files", "--", *PARTS[name]).splitlines()
        if not files:
            raise ValueError(f"there is no {name} here")
        subprocess.run(["git", "rm", "--quiet", "--", *files], check=True)
    for file, text in texts():
        left = unmarked(text, taken, keeps)
        if file.endswith(".md"):
            left = re.sub(r"\n{3,}", "\n\n", left)
        if left != text:
            with open(file, "w", encoding="utf-8", newline="") as opened:
                opened.write(left)


def mentions(taken):
    """Returns the sentences that may still be about one of these parts, as file:line: text."""
    words = re.compile("|".join(WORDS[name] for name in taken))
    found = []
    for file, text in texts():
        for number, line in enumerate(text.splitlines(), 1):
            sentences = re.split(r"(?<=[.|]) ", line.strip())
            found += [f"{file}:{number}: {sentence}" for sentence in sentences if words.search(sentence)]
    return found
