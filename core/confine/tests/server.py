"""A program outside: it writes down whatever reaches it, and can be attacked itself. Its argument is the scratch folder."""
import os
import signal
import socket
import sys
import threading

home, out, name = (os.environ[key] for key in ("HOME", "OUT", "ID"))


def note(text):
    with open(f"{out}/server.log", "a") as log:
        log.write(text + "\n")


def stream(address, family=socket.AF_UNIX):
    server = socket.socket(family, socket.SOCK_STREAM)
    server.bind(address)
    server.listen()
    if family == socket.AF_INET:
        with open(f"{out}/port", "w") as port:
            port.write(str(server.getsockname()[1]))

    def serve():
        while True:
            client, _ = server.accept()
            if client.recv(100):
                note("stream")
            client.close()

    threading.Thread(target=serve, daemon=True).start()


def datagram(address, family=socket.AF_UNIX):
    server = socket.socket(family, socket.SOCK_DGRAM)
    server.bind(address)
    if family == socket.AF_INET:
        with open(f"{out}/udp", "w") as port:
            port.write(str(server.getsockname()[1]))

    def serve():
        while server.recv(100):
            note("datagram")

    threading.Thread(target=serve, daemon=True).start()


def fifo(path):
    os.mkfifo(path)
    reader = os.open(path, os.O_RDWR)

    def serve():
        while os.read(reader, 100):
            note("fifo")

    threading.Thread(target=serve, daemon=True).start()


def queue(key):
    import ctypes

    libc = ctypes.CDLL(None)
    number = libc.msgget(key, 0o1666)

    def serve():
        buffer = ctypes.create_string_buffer(108)
        while libc.msgrcv(number, buffer, 100, 0, 0) >= 0:
            note("queue")

    threading.Thread(target=serve, daemon=True).start()
    return number


for folder in (home, out):
    stream(f"{folder}/stream.sock")
    datagram(f"{folder}/datagram.sock")
    fifo(f"{folder}/server.fifo")
stream(f"/tmp/{name}.sock")
stream(f"\0{name}")
datagram(f"\0{name}.datagram")
stream(("127.0.0.1", 0), socket.AF_INET)
datagram(("127.0.0.1", 0), socket.AF_INET)
queue(int(name.rsplit("-", 1)[1]))
held = os.open(f"{out}/held", os.O_RDWR | os.O_CREAT)
with open(f"{out}/descriptor", "w") as descriptor:
    descriptor.write(str(held))
for number in (signal.SIGTERM, signal.SIGUSR1):
    signal.signal(number, lambda *_: note("signal"))
os.chdir(out)
open(f"{out}/server.log", "w").close()
with open(f"{out}/pid.new", "w") as pid:
    pid.write(str(os.getpid()))
os.rename(f"{out}/pid.new", f"{out}/pid")
sys.stdin.read()
