import type { z } from 'zod';
import { PEPPER_BYTES, secretRing } from '../core/crypto.ts';
import { METERED_NEEDS, SUBSCRIPTION_NEEDS, X402_NEEDS } from '../rules/rails.ts';
import { NETWORKS, type Network } from '../solana/assets.ts';
import { LOOPBACK } from './variable.ts';
import { listDatabaseProblems } from './variables/databases.ts';
import { type VARIABLES, type VariableName, variables } from './variables.ts';

type Values = { [K in VariableName]: z.infer<(typeof VARIABLES)[K]['schema']> };
export type Config = Omit<Values, 'RPC_URL' | 'RPC_URLS'> & { network: Network; rpcUrls: [string, ...string[]] };

/** Problem of a variable: its name and the requirement, never a value. */
export interface Finding {
  name: VariableName | 'DIRECTORY';
  problem: string;
  /** True if the service cannot serve at all. Otherwise only features that need this variable answer 503 or are less secure. */
  isFatal: boolean;
}

const URLS: VariableName[] = [
  'RPC_URL',
  'RPC_URLS',
  'BASE_URL',
  'PRICE_URL',
  'OPERATOR_URL',
  'ALARM_URL',
  'TERMS_URL',
  'PRIVACY_URL',
  'RESEND_API_URL',
  'DISCORD_REDIRECT_URI',
  'GOOGLE_ISSUER',
  'GITHUB_URL',
  'GITHUB_API_URL',
  'PROCESSOR_API_URL',
  'TELEGRAM_API_URL',
  'DISCORD_API_URL',
];
const fatal = (name: Finding['name'], problem: string): Finding => ({ name, problem, isFatal: true });
const partial = (name: VariableName, problem: string): Finding => ({ name, problem, isFatal: false });

/**
 * Validates all variables and secrets together. An empty value counts as not set. Unknown names belong to the platform and are ignored.
 * `config` is null if a finding is fatal.
 */
export function readConfig(environment: Readonly<Record<string, unknown>>): { config: Config | null; findings: Finding[] } {
  const given = new Map<VariableName, string>();
  for (const [name] of variables) {
    const value = environment[name];
    if (value !== undefined && value !== '') given.set(name, String(value));
  }
  const parsed = variables.map(([name, { schema, form }]) => {
    const { success, data } = schema.safeParse(given.get(name));
    const problem = given.has(name) ? `must be ${form}` : 'is missing';
    return { name, value: data, findings: success ? [] : [fatal(name, problem)] };
  });
  const findings = [...parsed.flatMap((one) => one.findings), ...togetherFindings(given), ...secretFindings(given)];
  if (given.get('NETWORK') === 'mainnet') findings.push(...mainnetFindings(given));
  const parsedOf = (name: VariableName) => parsed.find((one) => one.name === name)?.value as never;
  const databases = {
    PARTITIONS: parsedOf('PARTITIONS'),
    OPEN_DATABASES: parsedOf('OPEN_DATABASES'),
    DATABASES: parsedOf('DATABASES'),
  };
  findings.push(...listDatabaseProblems(environment, databases).map(({ name, problem }) => fatal(name, problem)));
  if (findings.some(({ isFatal }) => isFatal)) return { config: null, findings };
  const { RPC_URL, RPC_URLS, ...values } = Object.fromEntries(parsed.map(({ name, value }) => [name, value])) as Values;
  const rpcUrls = (RPC_URLS ?? [RPC_URL]) as [string, ...string[]];
  return { config: { ...values, network: NETWORKS[values.NETWORK], rpcUrls }, findings };
}

const isMailPublic = (given: ReadonlyMap<VariableName, string>): boolean =>
  given.get('MAIL_PROVIDER') === 'local' &&
  !(given.get('RPC_URLS') ?? given.get('RPC_URL') ?? '').split(',').every((url) => LOOPBACK.test(url.trim()));

function togetherFindings(given: ReadonlyMap<VariableName, string>): Finding[] {
  const isUsed = (name: string) => (given.get(name as VariableName) ?? '0') !== '0';
  const alone = variables.flatMap(([name, { needed }]) =>
    typeof needed === 'object' && isUsed(needed.with) && !given.has(name)
      ? [partial(name, `is missing but required by ${needed.with}`)]
      : [],
  );
  const hasNode = given.has('RPC_URL') || given.has('RPC_URLS');
  const hasKey = given.get('MAIL_PROVIDER') !== 'resend' || given.has('RESEND_API_KEY');
  return [
    ...(hasNode ? [] : [fatal('RPC_URL', 'is missing, and so is RPC_URLS')]),
    ...(hasKey ? [] : [partial('RESEND_API_KEY', 'is missing but required by MAIL_PROVIDER')]),
    ...(isMailPublic(given) ? [fatal('MAIL_PROVIDER', 'must not be local with a node on another machine')] : []),
    ...alone,
  ];
}

function secretFindings(given: ReadonlyMap<VariableName, string>): Finding[] {
  const pepper = given.get('PEPPER') ?? '';
  const isMixed = pepper.includes(',') && secretRing(pepper, PEPPER_BYTES).length === 1 && pepper.length >= PEPPER_BYTES;
  const mixed = isMixed
    ? [partial('PEPPER', `holds a comma and a part under ${PEPPER_BYTES} bytes, so the whole value counts as one pepper`)]
    : [];
  const owners = new Map<string, VariableName>();
  const shared = variables.flatMap(([name, { isSecret }]) => {
    if (!isSecret) return [];
    const others = (given.get(name) ?? '').split(',').map((secret) => {
      const owner = owners.get(secret) ?? name;
      if (secret !== '') owners.set(secret, owner);
      return owner;
    });
    return [...new Set(others)].filter((other) => other !== name).map((other) => partial(name, `shares a secret with ${other}`));
  });
  return [...mixed, ...shared];
}

function mainnetFindings(given: ReadonlyMap<VariableName, string>): Finding[] {
  const needed = variables.filter(([name, variable]) => variable.needed === 'on mainnet' && !given.has(name));
  const local = variables.filter(([name, { isLocalOnly, fallback }]) => isLocalOnly && (given.get(name) ?? fallback) !== fallback);
  const plain = URLS.filter(
    (name) =>
      given.has(name) &&
      given
        .get(name)!
        .split(',')
        .some((url) => !/^https:\/\//i.test(url.trim())),
  );
  return [
    ...needed.map(([name]) => fatal(name, 'is missing on mainnet')),
    ...local.map(([name, { fallback }]) =>
      fatal(name, fallback === undefined ? 'must not be set on mainnet' : `must be ${fallback} on mainnet`),
    ),
    ...plain.map((name) => fatal(name, 'must be https on mainnet')),
  ];
}

export const hasX402 = (config: Config): boolean => X402_NEEDS.every((variable) => config[variable] !== undefined);

export const hasChannels = (config: Config): boolean => METERED_NEEDS.every((variable) => config[variable] !== undefined);

export const hasSubscriptions = (config: Config): boolean => SUBSCRIPTION_NEEDS.every((variable) => config[variable] !== undefined);

/** Without a SOL price source, a price can be paid only in its own asset. */
export const hasPriceSource = (config: Config): config is Config & { PRICE_URL: string } => config.PRICE_URL !== undefined;
