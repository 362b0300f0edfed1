import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { simulatedConfig } from '#platform/chain/simulated-config.ts';
import { base58, base64url } from '../../worker/core/encoding.ts';
import { type Finding, readConfig } from '../../worker/platform/config.ts';
import { type VariableName, variables } from '../../worker/platform/variables.ts';
import wranglerToml from '../../wrangler.toml?raw';
import { testConfig } from '../support/runner/env.ts';

const seed = () => base64url.encode(crypto.getRandomValues(new Uint8Array(32)));
const WALLET = 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa';
const OTHER_WALLET = '6hjrWR3LkfsPH6A8BmpkMrGUAZv7aXLf57YxZE76ba9x';
const MAINNET = {
  NETWORK: 'mainnet',
  RPC_URL: 'https://rpc.example.com/?key=1',
  BASE_URL: 'https://pay.example.com',
  SERVICE_REFERENCE: WALLET,
  PEPPER: seed(),
  JWT_KEYS: seed(),
  RECEIPT_KEYS: seed(),
  EMAIL_LINK_KEYS: seed(),
  SANDBOX_SEED: seed(),
  SEAL_KEYS: seed(),
  FACTOR_KEYS: seed(),
};
const findingsOf = (changes: Record<string, string>, base: Record<string, string> = MAINNET): Finding[] =>
  readConfig({ ...base, ...changes }).findings;
const said = (changes: Record<string, string>, base?: Record<string, string>): string[] =>
  findingsOf(changes, base).map(({ name, problem, isFatal }) => `${isFatal ? 'wrong' : 'weak'}: ${name} ${problem}`);

describe('readConfig', () => {
  it('the required variables alone are sound, also if all others are empty', () => {
    const nothing = Object.fromEntries(variables.filter(([name]) => !Object.hasOwn(MAINNET, name)).map(([name]) => [name, '']));
    for (const more of [{}, nothing]) {
      const { config, findings } = readConfig({ ...MAINNET, ...more });
      expect(findings).toEqual([]);
      expect(config).toMatchObject({ rpcUrls: [MAINNET.RPC_URL], RATE_MULTIPLIER: 1, OWN_HOSTS: [], SESSION_SECONDS: 900 });
    }
    expect(findingsOf({ SERVICE_REFERENCE: WALLET }, testConfig('any')).filter(({ isFatal }) => isFatal)).toEqual([]);
  });

  it('sandbox keys derive from SANDBOX_SEED and from no other secret', () => {
    const keysUnder = (changes: Record<string, string>) => simulatedConfig(readConfig({ ...MAINNET, ...changes }).config!).FEE_PAYER_KEYS;
    const mine = keysUnder({});
    for (const name of ['RECEIPT_KEYS', 'PEPPER', 'JWT_KEYS', 'SEAL_KEYS', 'FACTOR_KEYS']) expect(keysUnder({ [name]: seed() })).toBe(mine);
    expect(keysUnder({ SANDBOX_SEED: seed() })).not.toBe(mine);
  });

  it('all missing variables are reported together, by name', () => {
    const missing = readConfig({}).findings.map(({ name }) => name);
    expect(missing.toSorted()).toEqual([
      'EMAIL_LINK_KEYS',
      'FACTOR_KEYS',
      'JWT_KEYS',
      'NETWORK',
      'PEPPER',
      'RECEIPT_KEYS',
      'RPC_URL',
      'SANDBOX_SEED',
      'SEAL_KEYS',
      'SERVICE_REFERENCE',
    ]);
    expect(readConfig({}).config).toBeNull();
  });

  it('spaces and repeated keys in a list of references are left out', () => {
    const { config } = readConfig({ ...MAINNET, SERVICE_REFERENCE: `${WALLET}, ${OTHER_WALLET},${WALLET} ` });
    expect(config?.SERVICE_REFERENCE).toEqual([WALLET, OTHER_WALLET]);
  });

  it.each<[string, Record<string, string>, string]>([
    ['a pepper under 32 bytes', { PEPPER: 'x'.repeat(31) }, 'wrong: PEPPER must be one or more of 32+ bytes, comma-separated'],
    ['a receipt key that is no key', { RECEIPT_KEYS: 'nonsense' }, 'wrong: RECEIPT_KEYS must be 32-byte base64url seeds, comma-separated'],
    ['two sandbox seeds', { SANDBOX_SEED: `${seed()},${seed()}` }, 'wrong: SANDBOX_SEED must be one 32-byte base64url seed'],
    ['a ring with a gap', { JWT_KEYS: `${seed()},,${seed()}` }, 'wrong: JWT_KEYS must be 32-byte base64url seeds, comma-separated'],
    [
      'five references',
      { SERVICE_REFERENCE: Array.from({ length: 5 }, () => base58.encode(crypto.getRandomValues(new Uint8Array(32)))).join(',') },
      'wrong: SERVICE_REFERENCE must be one to 4 addresses, comma-separated',
    ],
    [
      'a reference that is no address',
      { SERVICE_REFERENCE: 'wallet' },
      'wrong: SERVICE_REFERENCE must be one to 4 addresses, comma-separated',
    ],
    ['no node', { RPC_URL: '' }, 'wrong: RPC_URL is missing, and so is RPC_URLS'],
    ['an own host with a path', { OWN_HOSTS: 'svc.example.com/v1' }, 'wrong: OWN_HOSTS must be host names, comma-separated'],
    ['real money without a name', { BASE_URL: '' }, 'wrong: BASE_URL is missing on mainnet'],
    ['real money over http', { RPC_URLS: 'https://a.example,http://b.example' }, 'wrong: RPC_URLS must be https on mainnet'],
    ['alarms over http beside real money', { ALARM_URL: 'http://127.0.0.1:9000/alarm' }, 'wrong: ALARM_URL must be https on mainnet'],
    ['real money with higher limits', { RATE_MULTIPLIER: '5' }, 'wrong: RATE_MULTIPLIER must be 1 on mainnet'],
    ['real money with local webhooks', { ALLOW_INSECURE_WEBHOOKS: 'true' }, 'wrong: ALLOW_INSECURE_WEBHOOKS must be false on mainnet'],
    ['real money by a clock of its own', { LOCAL_CLOCK_URL: 'http://127.0.0.1:8899' }, 'wrong: LOCAL_CLOCK_URL must not be set on mainnet'],
    ['real money with a demo wallet', { DEMO_WALLET: 'true' }, 'wrong: DEMO_WALLET must be false on mainnet'],
    ['a fee that nobody gets', { FEE_BPS: '250' }, 'weak: FEE_WALLET is missing but required by FEE_BPS'],
    ['half of x402', { FEE_PAYER_KEYS: seed() }, 'weak: CHALLENGE_KEYS is missing but required by FEE_PAYER_KEYS'],
    [
      'a bot that nobody answers for',
      { TELEGRAM_BOT_USERNAME: 'svc_bot' },
      'weak: TELEGRAM_CONNECTOR_SECRETS is missing but required by TELEGRAM_BOT_USERNAME',
    ],
    ['one secret for two ends', { SEAL_KEYS: `${seed()},${MAINNET.JWT_KEYS}` }, 'weak: SEAL_KEYS shares a secret with JWT_KEYS'],
    [
      'a new pepper that is too short beside an old one',
      { PEPPER: `short,${MAINNET.PEPPER}` },
      'weak: PEPPER holds a comma and a part under 32 bytes, so the whole value counts as one pepper',
    ],
  ])('a finding is reported for %s', (_name, changes, finding) => {
    expect(said(changes)).toEqual([finding]);
    expect(readConfig({ ...MAINNET, ...changes }).config === null).toBe(finding.startsWith('wrong'));
  });

  it('settings allowed on a local machine are refused on mainnet', () => {
    const local = { RATE_MULTIPLIER: '1000', ALLOW_INSECURE_WEBHOOKS: 'true', DEMO_WALLET: 'true', BASE_URL: 'http://127.0.0.1:8787' };
    expect(said({ ...local, NETWORK: 'devnet', RPC_URL: 'http://127.0.0.1:8899' })).toEqual([]);
    expect(said(local)).toHaveLength(4);
  });

  it('LOCAL_CLOCK_URL must be a URL of this machine', () => {
    const local = { NETWORK: 'devnet', RPC_URL: 'http://127.0.0.1:8899' };
    expect(said({ ...local, LOCAL_CLOCK_URL: 'http://127.0.0.1:8899' })).toEqual([]);
    for (const url of ['http://clock.example', 'https://127.0.0.1.example', 'http://127.0.0.1@clock.example'])
      expect(said({ ...local, LOCAL_CLOCK_URL: url })).toEqual(['wrong: LOCAL_CLOCK_URL must be URL of this machine']);
  });

  it('findings contain no value of a variable', () => {
    const names = variables.map(([name]) => name);
    const value = fc.string({ minLength: 6, maxLength: 60 }).filter((text) => !JSON.stringify(variables).includes(text));
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), value), (environment) => {
        const finding = JSON.stringify(readConfig(environment).findings);
        for (const text of Object.values(environment)) expect(finding).not.toContain(JSON.stringify(text).slice(1, -1));
      }),
    );
  });
});

describe('variable table', () => {
  it('wrangler.toml sets only known variables and no secret', () => {
    const vars = /^\[vars\]\n([\s\S]*?)\n\n(?:#|\[)/m.exec(wranglerToml)![1]!;
    const set = [...vars.matchAll(/^([A-Z_]+) = /gm)].map(([, name]) => name as VariableName);
    expect(set.length).toBeGreaterThan(3);
    const known = new Map(variables);
    expect(set.filter((name) => !known.has(name) || known.get(name)!.isSecret)).toEqual([]);
  });

  it('the Worker answers only under its configured names', () => {
    for (const name of ['workers_dev', 'preview_urls']) expect(wranglerToml).toMatch(new RegExp(`^${name} = false$`, 'm'));
  });
});
