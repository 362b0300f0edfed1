import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** What `npm run dev` may be told, from flags first, then the environment, then the defaults. */
export interface DevOptions {
  /** 0 takes any free port, here and for the chain. */
  port: number;
  chainPort: number;
  /** Where everything that outlives a run is kept. */
  stateDir: string;
  verbose: boolean;
}

/** A sentence for the person at the terminal: what is wrong and what to do. Printed without a stack. */
export class Refusal extends Error {}

/** Reads the command line and the environment. Throws a `Refusal` for anything it does not understand. */
export function readOptions(args: string[], env: NodeJS.ProcessEnv): DevOptions {
  const { port, 'chain-port': chainPort, state, verbose } = parseFlags(args);
  return {
    port: readPort('--port', port ?? env.PORT, 8787),
    chainPort: readPort('--chain-port', chainPort ?? env.CHAIN_PORT, 8899),
    stateDir: resolve(state ?? (env.STATE_DIR || '.local')),
    verbose: verbose ?? false,
  };
}

function parseFlags(args: string[]) {
  const options = {
    port: { type: 'string' },
    'chain-port': { type: 'string' },
    state: { type: 'string' },
    verbose: { type: 'boolean' },
  } as const;
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    const usage = 'npm run dev -- [--port 8787] [--chain-port 8899] [--state .local] [--verbose]';
    throw new Refusal(`${error instanceof Error ? error.message : String(error)}\nUsage: ${usage}`);
  }
}

function readPort(flag: string, text: string | undefined, fallback: number): number {
  if (text === undefined || text === '') return fallback;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new Refusal(`${flag} wants a port from 0 to 65535, not "${text}".`);
  return port;
}
