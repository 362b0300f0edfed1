import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { Refusal } from './options.ts';

const HOST = '127.0.0.1';

/** The port itself where it is free, any free one for 0. A port in use is a `Refusal` that names the flag to change it. */
export function freePort(port: number, flag: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => {
      const what = error.code === 'EADDRINUSE' ? 'is already in use' : `cannot be used (${error.code})`;
      reject(new Refusal(`Port ${port} ${what}. End what uses it, or choose another one: npm run dev -- ${flag} 0 takes any free port.`));
    });
    probe.listen(port, HOST, () => {
      const bound = (probe.address() as AddressInfo).port;
      probe.close(() => resolve(bound));
    });
  });
}
