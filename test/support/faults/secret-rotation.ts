import { base64url } from '#core/encoding.ts';
import type { Env } from '#platform/context.ts';
import { SEED } from '../runner/env.ts';
import type { World } from '../world.ts';

/** One secret of a deployment, and what relies on it: `make` and `use` throw where they are refused. */
export interface Drill<T> {
  secret: string;
  /** Something that lasts, made with the first of the ring. */
  make(env: Env): Promise<T>;
  use(env: Env, made: T): Promise<void>;
  /** Before anything is made: the ring with both in it. */
  begin?(ring: string): Promise<unknown>;
  /** Before the old one is taken out, with the new one in front. */
  settle?(env: Env): Promise<unknown>;
  /** The old one is never taken out. */
  isKept?: boolean;
  /** What was made is used up by being used. */
  isSingleUse?: boolean;
  /** Calls of each kind at once. */
  times?: number;
}

const newSecret = () => base64url.encode(crypto.getRandomValues(new Uint8Array(32)));

/** The same people before another release. */
export const under = (w: World, env: Env): World => Object.assign(Object.create(w), { env });

/**
 * Turns a secret as the README says: behind, in front, alone. At each step the deployment before and the new one answer side by side, and each
 * of many concurrent calls meets either of them; what was made before the step is used among what is made and used in it.
 */
export async function turn<T>(base: Env, { secret, make, use, begin, settle, isKept, isSingleUse, times = 8 }: Drill<T>): Promise<void> {
  const [old, fresh] = [newSecret(), newSecret()];
  const envs = [old, `${old},${fresh}`, `${fresh},${old}`, fresh].map((ring) => ({ ...base, [secret]: ring }) as Env);
  await begin?.(`${old},${fresh}`);
  let state = SEED;
  const oneOf = <V>(values: readonly V[]): V => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return values[(state >>> 16) % values.length]!;
  };
  const many = <V>(task: () => Promise<V>): Promise<V[]> => Promise.all(Array.from({ length: times }, task));
  const step = async (sideBySide: readonly Env[], before: T[]): Promise<T[]> => {
    const [, anew] = await Promise.all([
      Promise.all(before.map((made) => use(oneOf(sideBySide), made))),
      many(async () => {
        const made = await make(oneOf(sideBySide));
        if (!isSingleUse) await use(oneOf(sideBySide), made);
        return made;
      }),
    ]);
    return anew;
  };
  let made = await many(() => make(envs[0]!));
  made = [...(isSingleUse ? [] : made), ...(await step(envs.slice(0, 2), made))];
  made = [...(isSingleUse ? [] : made), ...(await step(envs.slice(1, 3), made))];
  await step([envs[2]!], made);
  if (isKept) return;
  // What the old one made has had its time: it ends, or was made anew.
  await settle?.(envs[2]!);
  const lasting = await many(() => make(envs[2]!));
  await step([envs[3]!], await step(envs.slice(2, 4), lasting));
}
