interface Statement {
  text: string;
  /** Highest number of a parameter: `?` takes the next one, `?3` the third. */
  parameters: number;
  isWrite: boolean;
}

/** Texts, quoted names, comments, parameters and statement ends: the parts of SQL that matter here. */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\?\d*|;/g;
const IS_READ = /^\s*(?:select|values|explain|pragma)\b/i;
const IS_COMMON_TABLE = /^\s*with\b/i;
const WRITES = /\b(?:insert|update|delete|replace)\b/i;
const IS_TRIGGER = /^\s*create\s+(?:temp\w*\s+)?trigger\b/i;
const COMMENT = /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/g;

const isWrite = (text: string): boolean => !IS_READ.test(text) && !(IS_COMMON_TABLE.test(text) && !WRITES.test(text));

export const isComment = (text: string): boolean => text.replace(COMMENT, '').trim() === '';

/** Splits SQL into statements and counts the parameters of each. */
export function readStatements(sql: string): Statement[] {
  const statements: Statement[] = [];
  let [from, parameters] = [0, 0];
  const end = (to: number): void => {
    const text = sql.slice(from, to);
    if (text.trim() !== '') statements.push({ text, parameters, isWrite: isWrite(text.replace(COMMENT, '')) });
    [from, parameters] = [to + 1, 0];
  };
  for (const { 0: token, index } of sql.matchAll(TOKEN)) {
    if (token[0] === '?') parameters = token === '?' ? parameters + 1 : Math.max(parameters, Number(token.slice(1)));
    if (token === ';' && !IS_TRIGGER.test(sql.slice(from))) end(index);
  }
  end(sql.length);
  return statements;
}
