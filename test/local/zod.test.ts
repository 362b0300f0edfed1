import { expect, it } from 'vitest';
import * as whole from 'zod';
import * as ours from '#core/zod/index.ts';
import { REPLACED } from '../../local/bundle.ts';

/** zod as namespaces in itself, its messages in other languages, what reads JSON Schema, and what compiles a schema to source text. */
const LEFT_OUT = [
  'core',
  'locales',
  'default',
  'fromJSONSchema',
  'compile',
  'withParser',
  'ZodCompileAsyncError',
  'ZodCompileUnsupportedError',
];

it('what is deployed in the place of zod is zod, but for what nothing here uses', () => {
  const names = (module: object) => Object.keys(module).sort();
  expect(names(ours)).toEqual(names(whole).filter((name) => !LEFT_OUT.includes(name)));
  for (const name of names(ours).filter((each) => each !== 'z'))
    expect((ours as Record<string, unknown>)[name], name).toBe((whole as Record<string, unknown>)[name]);
  expect([...names(ours.z), 'z'].sort()).toEqual(names(ours));
  expect(REPLACED).toEqual({ zod: './worker/core/zod/index.ts' });
  const messages = ours.z.object({ amount: ours.z.string().min(3) }).safeParse({ amount: 'x' }).error?.issues;
  expect(messages?.map(({ message }) => message)).toEqual(['Too small: expected string to have >=3 characters']);
});
