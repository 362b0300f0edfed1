/**
 * `npm run check-config`: what the worker would say of a configuration before it is deployed. Reads `[vars]` of wrangler.toml, and over
 * them a file of NAME='value' lines, because secrets cannot be read back from the platform. Prints names, never a value.
 * @module
 */

import { readFileSync } from 'node:fs';
import { parseArgs, parseEnv } from 'node:util';
import { unstable_readConfig as readWrangler } from 'wrangler';
import { type Finding, readConfig } from '../worker/platform/config.ts';
import { configTable } from '../worker/platform/config-table.ts';
import { VARIABLES } from '../worker/platform/variables.ts';
import { NETWORKS, type NetworkName } from '../worker/solana/assets.ts';
import { Node } from '../worker/solana/node.ts';
import { Refusal } from './options.ts';

const USAGE = `npm run check-config -- [--vars <file of NAME='value' lines>] [--env <environment of wrangler.toml>] [--offline]
       npm run check-config -- --table   prints the table of all variables, as the README has it`;
const PATIENCE_MS = 8_000;

type Problem = Omit<Finding, 'name'> & { name: string };

function readFlags(args: string[]) {
  const options = {
    vars: { type: 'string' },
    env: { type: 'string' },
    offline: { type: 'boolean' },
    table: { type: 'boolean' },
  } as const;
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new Refusal(`${error instanceof Error ? error.message : String(error)}\nUsage: ${USAGE}`);
  }
}

function readEnvironment({ vars, env }: { vars?: string; env?: string }): Record<string, unknown> {
  const wrangler = readWrangler({ config: 'wrangler.toml', ...(env === undefined ? {} : { env }) }, { hideWarnings: true });
  return { ...wrangler.vars, ...(vars === undefined ? {} : parseEnv(readFileSync(vars, 'utf8'))) };
}

/** A misspelt name is a variable that is missing, told by what is there instead. */
const unknownNames = (environment: object): Problem[] =>
  Object.keys(environment)
    .filter((name) => !Object.hasOwn(VARIABLES, name))
    .map((name) => ({ name, problem: 'is no variable of this service', isFatal: false }));

/** What each node says of itself: by its number, because its URL often holds a key. Asked also where other variables are not right. */
async function askNodes({ NETWORK, RPC_URLS, RPC_URL }: Record<string, unknown>): Promise<Problem[]> {
  const network = NETWORKS[NETWORK as NetworkName];
  const urls = String(RPC_URLS || RPC_URL || '').split(',');
  if (!network || !urls.every((url) => URL.canParse(url.trim()))) return [];
  const name = RPC_URLS ? 'RPC_URLS' : 'RPC_URL';
  const answers = await Promise.all(
    urls.map(async (url, index): Promise<Problem[]> => {
      const node = new Node(url.trim(), network.genesisHash, () => PATIENCE_MS);
      const answer = await node.call([], PATIENCE_MS);
      return 'kind' in answer ? [{ name, problem: `node ${index + 1}: ${answer.reason}`, isFatal: node.isForeign }] : [];
    }),
  );
  return answers.flat();
}

async function main(): Promise<void> {
  const flags = readFlags(process.argv.slice(2));
  if (flags.table) return console.log(configTable());
  const environment = readEnvironment(flags);
  const { findings } = readConfig(environment);
  const nodes = flags.offline ? [] : await askNodes(environment);
  const problems: Problem[] = [...findings, ...nodes, ...unknownNames(environment)];
  for (const { name, problem, isFatal } of problems) console.log(`${isFatal ? 'wrong' : 'weak '}  ${name} ${problem}`);
  if (problems.length === 0) return console.log(`The configuration is sound: ${Object.keys(VARIABLES).length} variables looked at.`);
  const isRefused = problems.some(({ isFatal }) => isFatal);
  console.log(
    isRefused ? '\nA worker like this answers 503 misconfigured.' : '\nA worker like this runs; what is weak, or what needs it, does not.',
  );
  process.exitCode = 1;
}

main().catch((error: unknown) => {
  console.error(error instanceof Refusal ? error.message : error);
  process.exitCode = 2;
});
