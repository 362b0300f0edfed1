import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { partitionOf } from '../../../worker/core/ids.ts';
import { DevProcess } from './dev-process.ts';

const stateDir = mkdtempSync(join(tmpdir(), 'svc-dev-databases-'));
const dev = new DevProcess(stateDir, ['--databases', '3']);
afterAll(async () => {
  await dev.end();
  rmSync(stateDir, { recursive: true, force: true });
});

it('npm run dev -- --databases 3 creates accounts in three databases, which sign in', async () => {
  const { baseUrl } = await dev.ready();
  const post = async (path: string, body: object) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await fetch(`${baseUrl}/v1/auth/${path}`, init);
    return { status: response.status, body: (await response.json()) as { user_id: string } };
  };
  const found = new Set<number>();
  for (let i = 0; i < 40 && found.size < 3; i++) {
    const login = { email: `ada-${i}@example.com`, password: 'correct horse battery' };
    const made = await post('register', { ...login, display_name: 'Ada' });
    expect(made.status).toBe(201);
    expect((await post('login', login)).body.user_id).toBe(made.body.user_id);
    found.add(Math.floor(partitionOf(made.body.user_id)! / 8));
  }
  expect([...found].sort()).toEqual([0, 1, 2]);
}, 180_000);
