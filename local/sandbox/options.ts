import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Refusal, readPort } from '../cli/options.ts';

export interface SandboxOptions {
  /** 0 takes a free port. */
  port: number;
  host: string;
  /** URL under which others call the sandbox. Null: the port on this machine. */
  url: string | null;
  /** Null: in memory. */
  stateDir: string | null;
  verbose: boolean;
}

const USAGE = `npx @paylatch/sandbox [options]

Runs the service on this machine with a simulated chain, for tests. No node, no wallet, no account, and no production.

  --port <number>   port of the service (8787, or PORT). 0 takes any free port
  --state <folder>  stores accounts, keys and payments there. Without it the end of the process deletes them
  --host <address>  address to listen on (127.0.0.1)
  --url <url>       URL under which others call it, if it is not the port on this machine
  --verbose         prints each request
  --help, --version`;

/** Reads the arguments. Returns a text to print if the caller asked for one. Throws `Refusal` if an argument is wrong. */
export function readOptions(args: string[], { PORT }: NodeJS.ProcessEnv, version: string): SandboxOptions | string {
  const { help, version: isVersionAsked, port, host = '127.0.0.1', url, state, verbose = false } = parse(args);
  if (help) return USAGE;
  if (isVersionAsked) return version;
  if (state === '') throw new Refusal('--state wants a folder.');
  if (url !== undefined && !/^https?:\/\/[^/]+\/?$/.test(url))
    throw new Refusal(`--url wants an origin such as http://localhost:8787, not "${url}".`);
  return {
    port: readPort('--port', port ?? PORT, 8787),
    host,
    url: url?.replace(/\/$/, '') ?? null,
    stateDir: state === undefined ? null : resolve(state),
    verbose,
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean' },
        port: { type: 'string' },
        host: { type: 'string' },
        url: { type: 'string' },
        state: { type: 'string' },
        verbose: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    throw new Refusal(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
  }
}
