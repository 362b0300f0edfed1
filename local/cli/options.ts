import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs, parseEnv } from 'node:util';

export interface DevOptions {
  /** 0 takes a free port, here and for the chain. */
  port: number;
  chainPort: number;
  stateDir: string;
  /** Worker variables that override those of a local start. An empty one is unset. */
  variables: Record<string, string>;
  verbose: boolean;
  /** Also starts the simulated identity providers, messaging platforms and payment processor. */
  world: boolean;
  /** Databases of merchants. */
  databases: number;
}

/** Error for the person at the terminal: the problem and its fix. Printed without a stack. */
export class Refusal extends Error {}

export function readOptions(args: string[], env: NodeJS.ProcessEnv): DevOptions {
  const { port, 'chain-port': chainPort, state, vars, verbose, world, databases } = parseFlags(args);
  return {
    port: readPort('--port', port ?? env.PORT, 8787),
    chainPort: readPort('--chain-port', chainPort ?? env.CHAIN_PORT, 8899),
    stateDir: resolve(state ?? (env.STATE_DIR || '.local')),
    variables: readVariables(vars ?? env.VARS_FILE),
    verbose: verbose ?? false,
    world: world ?? false,
    databases: readDatabases(databases),
  };
}

function parseFlags(args: string[]) {
  const options = {
    port: { type: 'string' },
    'chain-port': { type: 'string' },
    state: { type: 'string' },
    vars: { type: 'string' },
    verbose: { type: 'boolean' },
    world: { type: 'boolean' },
    databases: { type: 'string' },
  } as const;
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    const usage = 'npm run dev -- [--port 8787] [--chain-port 8899] [--state .local] [--vars <file>] [--verbose] [--world] [--databases 3]';
    throw new Refusal(`${error instanceof Error ? error.message : String(error)}\nUsage: ${usage}`);
  }
}

function readVariables(file: string | undefined): Record<string, string> {
  if (file === undefined || file === '') return {};
  try {
    return parseEnv(readFileSync(file, 'utf8')) as Record<string, string>;
  } catch (error) {
    throw new Refusal(`--vars: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const DATABASES_MAX = 9;

function readDatabases(text = '1'): number {
  const count = Number(text);
  if (!/^\d$/.test(text) || count === 0) throw new Refusal(`--databases wants a number from 1 to ${DATABASES_MAX}, not "${text}".`);
  return count;
}

export function readPort(flag: string, text: string | undefined, fallback: number): number {
  if (text === undefined || text === '') return fallback;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new Refusal(`${flag} wants a port from 0 to 65535, not "${text}".`);
  return port;
}
