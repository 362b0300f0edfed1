import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runWrangler } from '../service/wrangler.ts';
import { addDatabase, migrateDatabases } from './databases.ts';

/** `npm run admin -- databases migrate|add`. */
export async function runDatabases(args: string[]): Promise<void> {
  const options = { region: { type: 'string' }, config: { type: 'string' }, vars: { type: 'string' } } as const;
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
  const configPath = resolve(values.config ?? 'wrangler.toml');
  const stateDir = mkdtempSync(join(tmpdir(), 'svc-databases-'));
  const wrangler = (asked: string[]) => runWrangler(asked, { stateDir });
  const print = (line: string) => console.log(line);
  const check = async () => checkDeployment(values.vars);
  try {
    const isDone =
      positionals[0] === 'add'
        ? await addDatabase({ region: values.region, configPath, wrangler, check, print })
        : await migrateDatabases(configPath, wrangler, print);
    if (!isDone) process.exitCode = 1;
  } finally {
    rmSync(stateDir, { recursive: true, force: true });
  }
}

/** Lines of `npm run deploy:check`, which needs the file of all secrets. Empty: nothing is open. */
function checkDeployment(vars: string | undefined): string[] {
  if (vars === undefined) {
    console.log('Check it before you deploy: npm run deploy:check -- --vars <file of all secrets>');
    return [];
  }
  const script = join(import.meta.dirname, '../deploy-check.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', script, '--vars', vars], { encoding: 'utf8' });
  return status === 0 ? [] : `${stdout}${stderr}`.trim().split('\n');
}
