import { connect, type Socket } from 'node:net';

/** Connection misuse in plain bytes. Resolves when done. */
type Habit = (open: () => Promise<Socket>) => Promise<void>;

const BODY_BYTES = 2_500_000;
const CHUNK = Buffer.alloc(16_384, 'a');
const PATH = '/v1/products/p/demo/connect';
const HEAD = `POST ${PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n`;
const PATIENCE_MS = 3_000;

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Writes and waits until the kernel accepts the bytes. Bytes that the service refuses to read are not awaited. */
const write = (socket: Socket, bytes: string | Buffer) =>
  new Promise<void>((resolve) => {
    socket.once('close', resolve);
    socket.write(bytes, () => {
      socket.off('close', resolve);
      resolve();
    });
  });

const answered = (socket: Socket) =>
  Promise.race([
    new Promise<void>((resolve) => {
      socket.once('data', () => resolve());
      socket.once('close', () => resolve());
    }),
    sleep(PATIENCE_MS),
  ]);

const say =
  (bytes: string | Buffer): Habit =>
  async (open) => {
    const socket = await open();
    await write(socket, bytes);
    await answered(socket);
    socket.destroy();
  };

const HABITS_BY_NAME: Record<string, Habit> = {
  'a chunked body over the limit, sent to its end': async (open) => {
    const socket = await open();
    await write(socket, `${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
    for (let sent = 0; sent < BODY_BYTES && !socket.destroyed; sent += CHUNK.length) {
      await write(socket, Buffer.concat([Buffer.from(`${CHUNK.length.toString(16)}\r\n`), CHUNK, Buffer.from('\r\n')]));
    }
    await write(socket, '0\r\n\r\n');
    await answered(socket);
    socket.destroy();
  },
  'a chunked body over the limit, dropped as soon as it is refused': async (open) => {
    const socket = await open();
    await write(socket, `${HEAD}Transfer-Encoding: chunked\r\n\r\n`);
    const refused = answered(socket).then(() => socket.destroy());
    while (!socket.destroyed)
      await write(socket, Buffer.concat([Buffer.from(`${CHUNK.length.toString(16)}\r\n`), CHUNK, Buffer.from('\r\n')]));
    await refused;
  },
  'an upload that is reset in the middle': async (open) => {
    const socket = await open();
    await write(socket, `${HEAD}Content-Length: ${BODY_BYTES}\r\n\r\n`);
    await write(socket, CHUNK);
    await sleep(50);
    socket.resetAndDestroy();
  },
  'an upload that ends in the middle': async (open) => {
    const socket = await open();
    socket.end(`${HEAD}Content-Length: 1000\r\n\r\n{"a":`);
    await answered(socket);
    socket.destroy();
  },
  'a chunked upload that is reset between two chunks': async (open) => {
    const socket = await open();
    await write(socket, `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n`);
    await sleep(50);
    socket.resetAndDestroy();
  },
  'a whole request, and gone before the answer': async (open) => {
    const socket = await open();
    await write(socket, `${HEAD}Content-Length: 2\r\n\r\n{}`);
    socket.resetAndDestroy();
  },
  'half a head, and then silence': async (open) => {
    const socket = await open();
    await write(socket, 'POST /v1/auth/login HTTP/1.1\r\nHost: 127');
    await sleep(PATIENCE_MS);
    socket.destroy();
  },
  'a head, half a body, and then silence': async (open) => {
    const socket = await open();
    await write(socket, `${HEAD}Content-Length: 1000\r\n\r\n{"wallet_address":"`);
    await sleep(PATIENCE_MS);
    socket.destroy();
  },
  'a byte at a time': async (open) => {
    const socket = await open();
    for (const byte of `${HEAD}Content-Length: 2\r\n\r\n{}`) {
      await write(socket, byte);
      await sleep(10);
    }
    await answered(socket);
    socket.destroy();
  },
  'a connection, and nothing at all': async (open) => {
    const socket = await open();
    await sleep(PATIENCE_MS);
    socket.resetAndDestroy();
  },
  'forty requests at once on one connection, and gone': async (open) => {
    const socket = await open();
    await write(socket, `${HEAD}Content-Length: 2\r\n\r\n{}`.repeat(40));
    await answered(socket);
    socket.resetAndDestroy();
  },
  'a length and chunks': say(`${HEAD}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n`),
  'two lengths': say(`${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}}`),
  'a negative length': say(`${HEAD}Content-Length: -1\r\n\r\n`),
  'a length beyond every number': say(`${HEAD}Content-Length: 99999999999999999999999999\r\n\r\n{}`),
  'a chunk whose size is no number': say(`${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`),
  'a chunk longer than it says': say(`${HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\n{"a":1}\r\n0\r\n\r\n`),
  'an encoding nobody knows': say(`${HEAD}Transfer-Encoding: gzip\r\n\r\n{}`),
  'a body that is not what its encoding says': say(`${HEAD}Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}`),
  'a head of a hundred kilobytes': say(`${HEAD}X-Long: ${'a'.repeat(100_000)}\r\n\r\n`),
  'a path of a hundred kilobytes': say(`GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`),
  'zero bytes in the head': say(`${HEAD}X-Zero: \0\0\r\nContent-Length: 0\r\n\r\n`),
  'no host': say('GET /health HTTP/1.1\r\n\r\n'),
  'a host that is none': say('GET /health HTTP/1.1\r\nHost: http://[::\r\n\r\n'),
  'a foreign host, in the absolute form': say('GET http://example.com/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'),
  'a path that is no URL': say('GET /%ff%zz/../..// HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'),
  'a method that nobody knows': say('STEAL /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'),
  'a tunnel': say('CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n\r\n'),
  'options of everything': say('OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'),
  'an upgrade to a WebSocket where there is none': say(
    `GET ${PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
  ),
  'HTTP 0.9': say('GET /health\r\n\r\n'),
  'HTTP 2': say('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  TLS: say(Buffer.from('1603010200010001fc0303', 'hex')),
  noise: say(Buffer.from(Array.from({ length: 4_096 }, (_, i) => (i * 131) % 256))),
};

export const HABITS = Object.values(HABITS_BY_NAME);

/** Runs habits in turn from `first`, at least `atLeast` and until `isOver`. Returns their number. */
export async function misbehave(baseUrl: string, first: number, atLeast: number, isOver: () => boolean): Promise<number> {
  const { hostname, port } = new URL(baseUrl);
  const open = () =>
    new Promise<Socket>((resolve, reject) => {
      const socket = connect(Number(port), hostname, () => resolve(socket));
      // A disconnect is expected. Only a refused connection is an error.
      socket.on('error', reject);
    });
  let acts = 0;
  for (; acts < atLeast || !isOver(); acts++) await HABITS[(first + acts) % HABITS.length]!(open);
  return acts;
}
