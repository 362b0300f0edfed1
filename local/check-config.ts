/**
 * `npm run check-config`: validates a configuration as the worker would before a deployment. Reads `[vars]` of wrangler.toml and a file of
 * NAME='value' lines over them, because secrets cannot be read back from the platform. Prints names, never values.
 * @module
 */

import { readFileSync } from 'node:fs';
import { parseArgs, parseEnv } from 'node:util';
import { unstable_readConfig as readWrangler } from 'wrangler';
import { type Finding, readConfig } from '../worker/platform/config.ts';
import { configTable } from '../worker/platform/config-table.ts';
import { VARIABLES, type VariableName } from '../worker/platform/variables.ts';
import { METERED_NEEDS, SUBSCRIPTION_NEEDS, X402_NEEDS } from '../worker/rules/rails.ts';
import { NETWORKS, type NetworkName } from '../worker/solana/assets.ts';
import { Node } from '../worker/solana/node.ts';
import { Refusal } from './cli/options.ts';

const USAGE = `npm run check-config -- [--vars <file of NAME='value' lines>] [--env <environment of wrangler.toml>] [--offline]
       npm run check-config -- --table   prints the table of all variables`;
const PATIENCE_MS = 8_000;

const ABILITIES: Record<string, readonly (VariableName | 'RPC_URL')[]> = {
  checkout: ['SERVICE_REFERENCE'],
  'pay per request (x402)': X402_NEEDS,
  'metered sessions (MPP)': METERED_NEEDS,
  subscriptions: SUBSCRIPTION_NEEDS,
  'prices in a second asset': ['PRICE_URL'],
  emails: ['MAIL_PROVIDER', 'MAIL_FROM'],
  'plans paid in USDC': ['TREASURY_WALLET'],
  'plans paid by card': ['PROCESSOR_API_KEY', 'PROCESSOR_WEBHOOK_SECRETS'],
  'sign-in with Google': ['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET'],
  'sign-in with GitHub': ['GITHUB_CLIENT_ID', 'GITHUB_CLIENT_SECRET'],
  'Telegram groups': ['TELEGRAM_BOT_USERNAME', 'TELEGRAM_CONNECTOR_SECRETS', 'TELEGRAM_BOT_TOKEN'],
  'Discord servers': ['DISCORD_CLIENT_ID', 'DISCORD_CONNECTOR_SECRETS', 'DISCORD_BOT_TOKEN'],
  'operator commands': ['OPERATOR_SECRET'],
  'operator alarms': ['ALARM_URL'],
  'name and terms on pages': ['OPERATOR_NAME', 'TERMS_URL'],
  'USDC by card': ['ONRAMP_URL'],
};

/** Formats two lists: features that work, and features with missing variables. */
function describeAbilities(environment: Record<string, unknown>): string {
  const missing = (names: readonly string[]) => names.filter((name) => !environment[name]);
  const works = Object.keys(ABILITIES).filter((ability) => missing(ABILITIES[ability]!).length === 0);
  const lacks = Object.entries(ABILITIES).filter(([ability]) => !works.includes(ability));
  const lines = lacks.map(([ability, names]) => `  ${ability}: set ${missing(names).join(', ')}`);
  return [`Works: ${works.join(', ') || 'nothing'}.`, ...(lines.length > 0 ? ['Does not work yet:', ...lines] : [])].join('\n');
}

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

function readEnvironment({ vars, env }: { vars?: string; env?: string }) {
  const wrangler = readWrangler({ config: 'wrangler.toml', ...(env === undefined ? {} : { env }) }, { hideWarnings: true });
  const environment: Record<string, unknown> = { ...wrangler.vars, ...(vars === undefined ? {} : parseEnv(readVars(vars))) };
  const bindings = Object.fromEntries(wrangler.d1_databases.map(({ binding }: { binding: string }) => [binding, {}]));
  return { environment, bindings };
}

function readVars(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new Refusal(`${path} cannot be read. --vars takes a file of NAME='value' lines.`);
  }
}

/** Reports unknown names: a misspelt name is a missing variable. */
const unknownNames = (environment: object): Problem[] =>
  Object.keys(environment)
    .filter((name) => !Object.hasOwn(VARIABLES, name))
    .map((name) => ({ name, problem: 'is not a variable of this service', isFatal: false }));

/** Checks each node and names it by its number, because its URL often contains a key. Runs even if other variables are invalid. */
async function askNodes({ NETWORK, RPC_URLS, RPC_URL }: Record<string, unknown>): Promise<Problem[]> {
  const network = NETWORKS[NETWORK as NetworkName];
  const urls = String(RPC_URLS || RPC_URL || '').split(',');
  if (!network || !urls.every((url) => URL.canParse(url.trim()))) return [];
  const name = RPC_URLS ? 'RPC_URLS' : 'RPC_URL';
  const answers = await Promise.all(
    urls.map(async (url, index): Promise<Problem[]> => {
      const node = new Node(url.trim(), network.genesisHash, () => PATIENCE_MS);
      const answer = await node.call([], PATIENCE_MS);
      return 'kind' in answer
        ? [{ name, problem: `node ${index + 1} is unavailable or refuses: ${answer.reason}`, isFatal: node.isForeign }]
        : [];
    }),
  );
  return answers.flat();
}

async function main(): Promise<void> {
  const flags = readFlags(process.argv.slice(2));
  if (flags.table) return console.log(configTable());
  const { environment, bindings } = readEnvironment(flags);
  const { findings } = readConfig({ ...environment, ...bindings });
  const nodes = flags.offline ? [] : await askNodes(environment);
  const problems: Problem[] = [...findings, ...nodes, ...unknownNames(environment)];
  for (const { name, problem, isFatal } of problems) console.log(`${isFatal ? 'wrong' : 'weak '}  ${name} ${problem}`);
  const isRefused = problems.some(({ isFatal }) => isFatal);
  if (!isRefused) console.log(describeAbilities(environment));
  if (problems.length === 0) return console.log(`The configuration is valid: ${Object.keys(VARIABLES).length} variables checked.`);
  console.log(
    isRefused
      ? '\nWith this configuration every call returns 503 misconfigured. Correct the variables marked wrong.'
      : '\nThe service runs with this configuration. Variables marked weak limit single features only.',
  );
  process.exitCode = 1;
}

main().catch((error: unknown) => {
  console.error(error instanceof Refusal ? error.message : error);
  process.exitCode = 2;
});
