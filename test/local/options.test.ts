import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Refusal, readOptions } from '../../local/cli/options.ts';

describe('options of a local start', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'svc-vars-')), 'vars');
  writeFileSync(file, "# of a stand-in\nMAIL_PROVIDER='resend'\nMAIL_FROM='Svc <post@svc.test>'\nHANDOFF_SECRETS=''\n");
  const variables = { MAIL_PROVIDER: 'resend', MAIL_FROM: 'Svc <post@svc.test>', HANDOFF_SECRETS: '' };

  it('flags win over environment variables, which win over defaults', () => {
    expect(readOptions([], {})).toMatchObject({ port: 8787, chainPort: 8899, variables: {}, verbose: false });
    expect(readOptions([], { PORT: '1', VARS_FILE: file })).toMatchObject({ port: 1, variables });
    expect(readOptions(['--port', '2', '--vars', file], { PORT: '1', VARS_FILE: '/nowhere' })).toMatchObject({ port: 2, variables });
  });

  it('an invalid option is refused with a readable message', () => {
    for (const args of [
      ['--vars', '/nowhere/at/all'],
      ['--port', 'x'],
      ['--ports', '1'],
    ])
      expect(() => readOptions(args, {}), args.join(' ')).toThrow(Refusal);
  });
});
