import { accessSync, constants, mkdirSync } from 'node:fs';
import { Refusal } from '../cli/options.ts';
import { type LocalSecrets, newSecrets, openSecrets, saveSecrets } from '../cli/secrets.ts';

export interface State {
  /** Null: in memory. */
  dir: string | null;
  secrets: LocalSecrets;
  saveKey(key: string): void;
}

/** Opens a state folder, or state in memory. Throws `Refusal` if the folder cannot be written. */
export function openState(dir: string | null): State {
  if (dir === null) return { dir, secrets: newSecrets(), saveKey: () => {} };
  try {
    mkdirSync(dir, { recursive: true });
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Refusal(`--state ${dir} cannot be written (${code}). Name another folder, or leave the option out.`);
  }
  const secrets = openSecrets(dir);
  return { dir, secrets, saveKey: (key) => saveSecrets(dir, { ...secrets, merchant: { ...secrets.merchant, key } }) };
}
