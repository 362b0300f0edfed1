import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import { Refusal } from './options.ts';

const LOOPBACK = '127.0.0.1';
/** Below the ephemeral port range, so the system never assigns these ports to other programs. */
const CHOSEN = { from: 20_000, to: 32_000 };
const TRIES = 20;

const findObstacle = (port: number, host: string): Promise<string | null> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(code === 'EADDRINUSE' ? 'is already in use' : `cannot be used (${code})`),
    );
    probe.listen(port, host, () => probe.close(() => resolve(null)));
  });

/**
 * The port itself where it is free, any free one for 0, which stays free until its server listens. A port in use is a `Refusal` that names
 * the flag to change it.
 */
export async function freePort(port: number, flag: string, host: string = LOOPBACK): Promise<number> {
  for (let tries = 1; ; tries++) {
    const chosen = port === 0 ? randomInt(CHOSEN.from, CHOSEN.to) : port;
    const obstacle = await findObstacle(chosen, host);
    if (obstacle === null) return chosen;
    if (port !== 0 || tries === TRIES)
      throw new Refusal(`Port ${chosen} ${obstacle}. End what uses it, or choose another one: ${flag} 0 takes any free port.`);
  }
}
