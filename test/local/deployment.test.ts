import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../worker/platform/config.ts';

const ROOT = join(import.meta.dirname, '../..');
const home = mkdtempSync(join(tmpdir(), 'svc-deployment-test-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const run = (script: string, args: string[], env: Record<string, string> = {}) =>
  spawnSync(process.execPath, ['--no-warnings', join(ROOT, 'local', script), ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { PATH: process.env.PATH ?? '', HOME: home, TMPDIR: home, ...env },
  });

describe('npm run secrets', () => {
  const vault = join(home, 'vault.env');

  it('all secrets are created once, in a file for one reader, and only the fee payer’s address is printed', () => {
    const { status, stdout } = run('vault.ts', ['--out', vault]);
    expect(status).toBe(0);
    expect(statSync(vault).mode & 0o777).toBe(0o600);
    const secrets = parseEnv(readFileSync(vault, 'utf8'));
    expect(stdout).toMatch(/The fee payer is [1-9A-HJ-NP-Za-km-z]{32,44}:/);
    for (const value of Object.values(secrets)) expect(stdout).not.toContain(value);
    expect(new Set(Object.values(secrets)).size).toBe(14);
    expect(stdout).toMatch(/Subscriptions are collected by [1-9A-HJ-NP-Za-km-z]{32,44}:/);
    const deployment = { NETWORK: 'mainnet', RPC_URL: 'https://rpc.example.com', BASE_URL: 'https://pay.example.com' };
    const reference = { SERVICE_REFERENCE: 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa' };
    expect(readConfig({ ...deployment, ...reference, ...secrets }).findings).toEqual([]);
  });

  it('existing secrets are never replaced by a second run', () => {
    const before = readFileSync(vault, 'utf8');
    const { status, stderr } = run('vault.ts', ['--out', vault]);
    expect([status, readFileSync(vault, 'utf8')]).toEqual([1, before]);
    expect(stderr).toContain('may be in use');
  });

  it('no copy of the secrets remains if the platform refuses them', () => {
    const { status, stdout, stderr } = run('vault.ts', ['--out', vault, '--put'], { CLOUDFLARE_API_BASE_URL: 'http://127.0.0.1:9' });
    expect(status).toBe(1);
    expect(readdirSync(home).filter((name) => name.startsWith('svc-secrets-'))).toEqual([]);
    for (const value of Object.values(parseEnv(readFileSync(vault, 'utf8')))) expect(stdout + stderr).not.toContain(value);
    expect(existsSync(vault)).toBe(true);
  }, 60_000);
});

describe('npm run check-config', () => {
  it('the output names the working features and the missing settings of the others', () => {
    const vault = join(home, 'abilities.env');
    run('vault.ts', ['--out', vault]);
    const { stdout } = run('check-config.ts', ['--vars', vault, '--offline']);
    expect(stdout).toMatch(/^Works: checkout, pay per request \(x402\), metered sessions \(MPP\), subscriptions/m);
    expect(stdout).toMatch(/^ {2}emails: set MAIL_PROVIDER, MAIL_FROM$/m);
    expect(stdout).toMatch(/^ {2}plans paid by card: set PROCESSOR_API_KEY, PROCESSOR_WEBHOOK_SECRETS$/m);
  });

  it('an unavailable node is described in plain text, not by an exception name', () => {
    const vars = join(home, 'no-node.env');
    writeFileSync(vars, "NETWORK='devnet'\nRPC_URL='http://127.0.0.1:1/'\n");
    const { stdout } = run('check-config.ts', ['--vars', vars]);
    expect(stdout).toContain('RPC_URL node 1 is unavailable or refuses: no connection');
    expect(stdout).not.toContain('Error');
  });

  it('an unreadable file is named without a stack trace', () => {
    const { status, stderr } = run('check-config.ts', ['--vars', join(home, 'none.env'), '--offline']);
    expect([status, stderr.trim()]).toEqual([2, `${join(home, 'none.env')} cannot be read. --vars takes a file of NAME='value' lines.`]);
  });
});

describe('npm run sbom', () => {
  it('the SBOM lists every runtime package as CycloneDX, no test package, and changes no lockfile', () => {
    const root = join(import.meta.dirname, '../..');
    const lockfile = readFileSync(join(root, 'package-lock.json'), 'utf8');
    expect(spawnSync('npm', ['run', '--silent', 'sbom'], { cwd: root }).status).toBe(0);
    const { bomFormat, metadata, components } = JSON.parse(readFileSync(join(root, 'dist/sbom/sbom.json'), 'utf8'));
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const names = components.map(({ group, name }: { group?: string; name: string }) => (group ? `${group}/${name}` : name));
    expect([bomFormat, metadata.component.name]).toEqual(['CycloneDX', 'svc']);
    expect(names).toEqual(expect.arrayContaining(Object.keys(dependencies)));
    expect(names.filter((name: string) => ['vitest', 'wrangler', '@biomejs/biome'].includes(name))).toEqual([]);
    expect(readFileSync(join(root, 'package-lock.json'), 'utf8')).toBe(lockfile);
  });
});

describe('npm run deploy:check', () => {
  it('the check names remaining example values, builds and measures the bundle, and is not ready', () => {
    const vault = join(home, 'second.env');
    run('vault.ts', ['--out', vault]);
    const { status, stdout } = run('deploy-check.ts', ['--vars', vault, '--offline']);
    expect(stdout).toMatch(/^open {2}wrangler\.toml\n {6}wrangler\.toml has no database_id/m);
    expect(stdout).toMatch(/^ok {2}build and size$/m);
    expect(stdout).toMatch(/^skipped {2}migrations$/m);
    expect([status, stdout.trim().split('\n').at(-1)]).toEqual([1, 'Not ready yet.']);
  }, 120_000);
});
