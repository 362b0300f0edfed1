import { base64url } from '#core/encoding.ts';
import type { Env } from '#platform/context.ts';
import { SEED } from '../runner/env.ts';
import type { World } from '../world.ts';

/** Secret of a deployment and its use. `make` and `use` throw if they are refused. */
export interface Drill<T> {
  secret: string;
  make(env: Env): Promise<T>;
  use(env: Env, made: T): Promise<void>;
  /** Runs before anything is made, with a ring of both keys. */
  begin?(ring: string): Promise<unknown>;
  /** Runs before the old key is removed, with the new one first. */
  settle?(env: Env): Promise<unknown>;
  isRetained?: boolean;
  isSingleUse?: boolean;
  times?: number;
}

const newSecret = () => base64url.encode(crypto.getRandomValues(new Uint8Array(32)));

export const under = (w: World, env: Env): World => Object.assign(Object.create(w), { env });

/**
 * Rotates a secret as the README says: new key second, first, alone. At each step the old and the new deployment answer concurrent calls
 * side by side, and things made before the step are used while new ones are made and used.
 */
export async function turn<T>(
  base: Env,
  { secret, make, use, begin, settle, isRetained, isSingleUse, times = 8 }: Drill<T>,
): Promise<void> {
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
    const [, rotated] = await Promise.all([
      Promise.all(before.map((made) => use(oneOf(sideBySide), made))),
      many(async () => {
        const made = await make(oneOf(sideBySide));
        if (!isSingleUse) await use(oneOf(sideBySide), made);
        return made;
      }),
    ]);
    return rotated;
  };
  let made = await many(() => make(envs[0]!));
  made = [...(isSingleUse ? [] : made), ...(await step(envs.slice(0, 2), made))];
  made = [...(isSingleUse ? [] : made), ...(await step(envs.slice(1, 3), made))];
  await step([envs[2]!], made);
  if (isRetained) return;
  // Things made with the old key expire or are made again.
  await settle?.(envs[2]!);
  const lasting = await many(() => make(envs[2]!));
  await step([envs[3]!], await step(envs.slice(2, 4), lasting));
}
