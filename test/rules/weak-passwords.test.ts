// @module-tag quick
import { describe, expect, it } from 'vitest';
import { foldPassword, packWords, requireGoodPassword, unpackWords } from '#features/accounts/passwords/weak-passwords.ts';
import stored from '../../worker/features/accounts/passwords/weak-passwords.json' with { type: 'json' };

const refusalCode = async (password: string) =>
  requireGoodPassword(password).then(
    () => null,
    (error: { code: string }) => error.code,
  );

describe('common passwords', () => {
  it('the list has every password of eight characters and more among the 100,000 commonest, sorted and folded', () => {
    const words = [...unpackWords(stored.words)];
    expect(words).toHaveLength(38_452);
    expect(words).toEqual([...new Set(words)].sort());
    expect(words.filter((word) => foldPassword(word) !== word || [...word].length < 8)).toEqual([]);
    expect(packWords(words)).toBe(stored.words);
  });

  it('common passwords are refused in any case and width', async () => {
    for (const password of ['password', 'PassWord', '12345678', 'qwertyuiop', 'iloveyou', 'ｐａｓｓｗｏｒｄ', 'sunshine', 'trustno1'])
      expect([password, await refusalCode(password)]).toEqual([password, 'password_too_common']);
  });

  it('each listed password is refused, and one with another character at its end is not', async () => {
    const words = new Set(unpackWords(stored.words));
    for (const word of [...words].filter((_, i) => i % 1500 === 0)) {
      expect([word, await refusalCode(word)]).toEqual([word, 'password_too_common']);
      expect([word, await refusalCode(`${word}☂`)]).toEqual([word, null]);
    }
  });

  it('other passwords pass, and the length is judged first', async () => {
    expect([await refusalCode('correct horse battery'), await refusalCode('123456'), await refusalCode('x'.repeat(129))]).toEqual([
      null,
      'password_too_short',
      'password_too_short',
    ]);
  });
});
