import { expect, it } from 'vitest';
import * as original from 'zod';
import * as ours from '#core/zod/index.ts';
import { REPLACED } from '../../local/bundle.ts';

/** Exports left out: the namespaces of zod in itself, locales, JSON Schema, and the schema compiler. */
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

it('the deployed zod module equals zod without the exports that are unused here', () => {
  const names = (module: object) => Object.keys(module).sort();
  expect(names(ours)).toEqual(names(original).filter((name) => !LEFT_OUT.includes(name)));
  for (const name of names(ours).filter((each) => each !== 'z'))
    expect((ours as Record<string, unknown>)[name], name).toBe((original as Record<string, unknown>)[name]);
  expect([...names(ours.z), 'z'].sort()).toEqual(names(ours));
  expect(REPLACED).toEqual({ zod: './worker/core/zod/index.ts' });
  const messages = ours.z.object({ amount: ours.z.string().min(3) }).safeParse({ amount: 'x' }).error?.issues;
  expect(messages?.map(({ message }) => message)).toEqual(['Too small: expected string to have >=3 characters']);
});
