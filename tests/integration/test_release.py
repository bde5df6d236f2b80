"""What `make version`, `make deb`, `make release` and `make sign` do. Everything that takes minutes, which is a whole release made twice,
is done with CCM_TEST_RELEASE=1 only."""

import hashlib
import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import tarfile

import pytest

from tests.support import pages, proc

ROOT = pages.ROOT
VERSION = pathlib.Path(ROOT, "VERSION").read_text(encoding="utf-8").strip()


def run(*argv, cwd=ROOT, code=0, **options):
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300 * proc.SLOW, check=False, cwd=cwd,
                          **options)
    assert done.returncode == code, f"{argv}: {done.returncode}\n{done.stdout[-4000:]}"
    return done.stdout


def block(mark):
    (found,) = [one.text for one in pages.blocks("releases.md") if one.mark == mark]
    return found


@pytest.fixture
def tree(tmp_path):
    """The files of the project, without what was built."""
    folder = tmp_path / "tree"
    shutil.copytree(ROOT, folder, symlinks=True, ignore=shutil.ignore_patterns("build", ".git", "__pycache__", ".pytest_cache", ".cache"))
    return folder


@pytest.fixture
def scripts(tmp_path):
    """Of the files of the project those that `make deb` reads itself."""
    folder = tmp_path / "tree"
    shutil.copytree(os.path.join(ROOT, "scripts"), folder / "scripts", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Makefile", "VERSION", ".gitattributes"):
        shutil.copy(os.path.join(ROOT, name), folder)
    return folder


def texts(tree):
    """{path: text} of what people copy from, and what is installed."""
    found = [path for pattern in ("*.md", "docs/*.md", "etc/**/*", "CMakeLists.txt", "scripts/*") for path in tree.glob(pattern) if path.is_file()]
    return {str(path.relative_to(tree)): path.read_text(encoding="utf-8") for path in found}


def test_one_version(tree):
    """Each place says what VERSION says, and one command changes all of them."""
    assert run("make", "--no-print-directory", "version", cwd=tree) == VERSION + "\n"
    before = texts(tree)
    assert run("make", "--no-print-directory", "version", "TO=27.18.28", cwd=tree) == "27.18.28\n"
    after = texts(tree)
    # Plugins that a page makes have a version of their own.
    left = {name: re.findall(rf"^.*(?<![\d.]){re.escape(VERSION)}(?![\d.]).*$", text, re.M) for name, text in after.items()}
    own = re.compile(r'version(:| =) b?"|^(hello|greet-cc|greet-rs|balancer) |^## ')
    assert [line for lines in left.values() for line in lines if not own.search(line)] == []
    assert {name for name in before if before[name] != after[name]} >= {"README.md", "docs/install.md", "etc/helm/ccmd/Chart.yaml",
                                                                        "etc/kubernetes/base/kustomization.yaml"}
    assert re.fullmatch(r"check-engine: (\S+), last release \1, ok\n", run("scripts/check-engine.py", cwd=tree))
    (tree / "etc/helm/ccmd/Chart.yaml").write_text(before["etc/helm/ccmd/Chart.yaml"], encoding="utf-8")
    assert f"etc/helm/ccmd/Chart.yaml says {VERSION}, not 27.18.28" in run("scripts/version.sh", cwd=tree, code=1)
    run("scripts/version.sh", "1.2", cwd=tree, code=2)
    (tree / "etc/helm/ccmd/Chart.yaml").write_text("name: ccmd\n", encoding="utf-8")
    assert "etc/helm/ccmd/Chart.yaml says none" in run("scripts/version.sh", cwd=tree, code=1)


def test_programs_have_that_version(build):
    ccmd = os.path.join(build, "bin", "ccmd")
    assert run(ccmd, "version").startswith(f"ccmd {VERSION} ")
    for name in ("clb", "nlb", "route", "node"):
        assert run(ccmd, "plugins", os.path.join(build, "plugins", name + ".so")).startswith(f"{name} {VERSION}\n")


def test_source_without_git_knows_where_it_comes_from(scripts):
    """A tarball has the commit and its time in a file, and no other."""
    ask = '. scripts/packaging.sh; echo "$revision $SOURCE_DATE_EPOCH"'
    env = {name: value for name, value in os.environ.items() if name != "SOURCE_DATE_EPOCH"}
    (scripts / "scripts/source.txt").write_text("0123456789abcdef 1700000000\n", encoding="utf-8")
    assert run("bash", "-euc", ask, cwd=scripts, env=env) == "0123456789abcdef 1700000000\n"
    assert run("bash", "-euc", ask, cwd=scripts, env={**env, "SOURCE_DATE_EPOCH": "7"}) == "0123456789abcdef 7\n"
    assert "scripts/source.txt export-subst" in (scripts / ".gitattributes").read_text(encoding="utf-8")


TOOL = """#!/bin/bash
echo "${0##*/} $*" >>"$CALLED"
case "$*" in
*" -B "*) mkdir -p build/package ;;
--build*) for n in 1 2 3; do echo "[$n/3] compiling part $n"; done; exit ${BROKEN:-0} ;;
*-G*DEB*) touch ccmd_0_$MACHINE.deb ccmd-dev_0_$MACHINE.deb ;;
esac
"""


@pytest.fixture
def packer(scripts, tmp_path):
    """make deb in that tree, with tools that only write down how they were called; on a terminal if wanted."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("cmake", "cpack"):
        (tools / name).write_text(TOOL)
        (tools / name).chmod(0o755)
    (scripts / "scripts/bootstrap.sh").write_text("#!/bin/sh\n")
    machine = run("dpkg", "--print-architecture").strip() if shutil.which("dpkg") else pytest.skip("no dpkg")
    env = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "CALLED": str(tmp_path / "called"), "MACHINE": machine, "TERM": "xterm"}

    def make(*words, terminal=False, code=0, **more):
        ours, theirs = pty.openpty() if terminal else (None, subprocess.PIPE)
        with subprocess.Popen(["make", "--no-print-directory", *words], cwd=scripts, env={**env, **more}, stdout=subprocess.PIPE, stderr=theirs,
                              stdin=subprocess.DEVNULL, text=True) as process:
            shown = ""
            if terminal:
                os.close(theirs)
                while True:
                    try:
                        data = os.read(ours, 4096)
                    except OSError:  # nobody has the other side any more
                        break
                    if not data:
                        break
                    shown += data.decode()
                os.close(ours)
            out, err = process.communicate(timeout=60 * proc.SLOW)
        assert process.returncode == (2 if code else 0), out + (err or "") + shown
        called = (tmp_path / "called").read_text(encoding="utf-8").splitlines()
        (tmp_path / "called").unlink()
        return called, out, shown + (err or "")

    make.machine = machine
    make.tree = scripts
    return make


def test_packages_take_as_many_cores_as_told(packer):
    called, out, told = packer("deb", "JOBS=3")
    assert [line.split(" -j ")[1] for line in called if "--build" in line] == ["3"]
    assert told == "" and out.splitlines() == [str(packer.tree / "build/deb" / f"{name}_0_{packer.machine}.deb") for name in ("ccmd-dev", "ccmd")]


def test_packages_show_what_is_done_on_a_terminal(packer):
    _, out, shown = packer("deb", terminal=True)
    for title in ("configure", "build", "pack"):
        assert re.search(rf"^{title} for {packer.machine}: done in \d+ s\r?$", shown.replace("\033[K", "").replace("\r", "\n"), re.M), shown
    assert "[2/3] compiling part 2" in shown and "compiling" not in out
    for terminal in (True, False):
        _, _, shown = packer("deb", terminal=terminal, code=1, BROKEN="1")
        assert f"build for {packer.machine}: failed" in shown and "compiling part 3" in shown


def test_packages_of_a_tree_that_was_moved(packer):
    """What CMake has remembered of the folder before is forgotten."""
    cache = packer.tree / "build/package/CMakeCache.txt"
    cache.parent.mkdir(parents=True)
    for home, stays in (("/elsewhere/ccmd", False), (packer.tree, True)):
        cache.write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={home}\n", encoding="utf-8")
        packer("deb")
        assert cache.exists() == stays


def test_packages_for_a_machine_that_nobody_has(packer):
    assert "ARCH=vax is none of amd64, arm64" in run("scripts/deb.sh", cwd=packer.tree, env={**os.environ, "ARCH": "vax"}, code=2)


# --- signatures ---


@pytest.fixture
def release(tmp_path):
    """A folder with files and their checksums."""
    folder = tmp_path / "dist"
    folder.mkdir()
    (folder / "ccmd-1.2.3.tar.gz").write_text("source")
    (folder / "ccmd-image-1.2.3.tar").write_text("image")
    run("bash", "-c", "sha256sum -- * >SHA256SUMS", cwd=folder)
    return folder


def check_forgeries(release, check):
    """The signature is of these checksums, the checksums of these files."""
    check()
    assert "ccmd-1.2.3.tar.gz: OK" in run("bash", "-c", block("verify-files"), cwd=release)
    (release / "ccmd-1.2.3.tar.gz").write_text("other source")
    run("bash", "-c", block("verify-files"), cwd=release, code=1)
    run("bash", "-c", "sha256sum -- *.tar* >SHA256SUMS", cwd=release)
    with pytest.raises(AssertionError):
        check()


def test_signature_by_openssl(release):
    run("bash", "-euc", block("key-openssl"), cwd=release.parent)
    shutil.copy(release.parent / "release.pub", release)
    run("make", "--no-print-directory", "-f", os.path.join(ROOT, "Makefile"), "-n", "sign", "KEY=x", cwd=ROOT)
    run(os.path.join(ROOT, "scripts/sign.sh"), str(release.parent / "release.pem"), str(release))
    check_forgeries(release, lambda: run("bash", "-euc", block("verify-openssl"), cwd=release))


def test_signature_by_gpg(release, tmp_path):
    if shutil.which("gpg") is None:
        pytest.skip("gpg is not installed: scripts/bootstrap.sh test")
    home = tmp_path / "g"
    home.mkdir(mode=0o700)
    env = {**os.environ, "GNUPGHOME": str(home)}
    try:
        run("gpg", "--batch", "--quiet", "--passphrase", "", "--quick-gen-key", "releaser@example.com", "ed25519", "sign", "never", env=env)
        run(os.path.join(ROOT, "scripts/sign.sh"), "releaser@example.com", str(release), env=env)
        check_forgeries(release, lambda: run("bash", "-euc", block("verify-gpg"), cwd=release, env=env))
    finally:
        subprocess.run(["gpgconf", "--kill", "all"], env=env, check=False)


def test_nothing_damaged_is_signed(release):
    run("bash", "-euc", block("key-openssl"), cwd=release.parent)
    (release / "ccmd-image-1.2.3.tar").write_text("")
    run(os.path.join(ROOT, "scripts/sign.sh"), str(release.parent / "release.pem"), str(release), code=1)
    assert not (release / "SHA256SUMS.sig").exists()
    assert "KEY=FILE" in run("make", "--no-print-directory", "sign", code=2)


# --- a whole release, twice ---


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """The folders of the same release, made in two checkouts that have nothing in common but the commit."""
    if os.environ.get("CCM_TEST_RELEASE") != "1":
        pytest.skip("takes minutes, so only with CCM_TEST_RELEASE=1")
    needed = ("aarch64-linux-gnu-gcc", "mmdebstrap", "git") if os.uname().machine == "x86_64" else ("x86_64-linux-gnu-gcc", "mmdebstrap", "git")
    for tool in needed:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed: make release installs it")
    made = []
    for name in ("one", "another-place"):
        checkout = tmp_path_factory.mktemp(name) / "ccmd"
        run("git", "clone", "--quiet", str(made[0]) if made else ROOT, str(checkout))
        run("scripts/release.sh", cwd=checkout, env={**os.environ, "CCACHE_DISABLE": "1", "JOBS": str(os.cpu_count())})
        made.append(checkout)
    return made


def sums(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def test_release_is_complete_and_the_same_again(releases):
    first, second = (sums(one / "build/dist") for one in releases)
    assert first == second
    version = (releases[0] / "VERSION").read_text(encoding="utf-8").strip()
    page = "\n".join(line for line in (releases[0] / "docs/releases.md").read_text(encoding="utf-8").splitlines() if line.startswith("| `"))
    told = {name.replace("VERSION", version).replace("ARCH", arch) for name in re.findall(r"`(ccmd[^`]*VERSION[^`]*)`", page.split("| is |")[-1])
            for arch in ("amd64", "arm64") if re.search(r"\.(gz|deb|tar|digest|json|tgz)$", name)}
    assert set(first) == told | {"SHA256SUMS"}
    run("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=releases[0] / "build/dist")


def test_release_refuses_what_is_not_committed(releases):
    (releases[1] / "README.md").write_text("changed\n", encoding="utf-8")
    assert "without changes" in run("scripts/release.sh", cwd=releases[1], code=1)


def test_tarball_is_a_source(releases, tmp_path):
    version = (releases[0] / "VERSION").read_text(encoding="utf-8").strip()
    with tarfile.open(releases[0] / f"build/dist/ccmd-{version}.tar.gz") as file:
        file.extractall(tmp_path)
    commit = run("git", "log", "-1", "--format=%H %ct", cwd=releases[0])
    assert (tmp_path / f"ccmd-{version}/scripts/source.txt").read_text(encoding="utf-8") == commit


def test_image_has_both_machines(releases, tmp_path):
    version = (releases[0] / "VERSION").read_text(encoding="utf-8").strip()
    dist = releases[0] / "build/dist"
    with tarfile.open(dist / f"ccmd-image-{version}.tar") as file:
        file.extractall(tmp_path)
    names = {one["annotations"]["org.opencontainers.image.ref.name"]: one for one in json.loads((tmp_path / "index.json").read_text())["manifests"]}
    assert set(names) == {version, f"{version}-amd64.spdx", f"{version}-arm64.spdx"}
    assert names[version]["digest"] == (dist / f"ccmd-image-{version}.digest").read_text().strip()
    index = json.loads((tmp_path / "blobs" / names[version]["digest"].replace(":", "/")).read_text())
    assert [one["platform"]["architecture"] for one in index["manifests"]] == ["amd64", "arm64"]
    if shutil.which("skopeo"):
        run("skopeo", "copy", "--all", f"oci:{tmp_path}:{version}", f"dir:{tmp_path}/copied")
        run("skopeo", "copy", f"oci:{tmp_path}:{version}-arm64.spdx", f"dir:{tmp_path}/attached")


def test_programs_of_the_other_machine_run(releases):
    """The root of the image for arm64, by the emulator: programs, their libraries, plugins."""
    root = releases[0] / "build/release-image/root-arm64"
    emulator = [] if os.uname().machine == "aarch64" else ["qemu-aarch64-static"]
    if emulator and shutil.which(emulator[0]) is None:
        pytest.skip("qemu-user-static is not installed: scripts/bootstrap.sh check")
    ccmd = [*emulator, *(["-L", str(root)] if emulator else []), str(root / "usr/bin/ccmd")]
    assert run(*ccmd, "version").startswith("ccmd ")
    for name in ("clb", "nlb", "route", "node"):
        assert run(*ccmd, "plugins", str(root / "usr/lib/ccmd/plugins" / f"{name}.so")).startswith(f"{name} ")
    assert "GLIBC" in run("readelf", "-V", str(root / "usr/bin/ccmd")) and "AArch64" in run("readelf", "-h", str(root / "usr/bin/ccmd"))
