import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { program, tests } from './sources.ts';

/** Words with several meanings, or with none of this field. CONTRIBUTING.md names the ones to use instead. */
const BANNED_WORDS =
  'told tell tells telling whose beside besides reach reaches reached stand stands standing stood place places placed papers paper letter letters look looks looked looking keep keeps kept keeping anew mend mends arm arms crowd crowded luck story stories fate fates whole wherever'.split(
    ' ',
  );
const BANNED = new Set(BANNED_WORDS);
const BANNED_PHRASE = /\b(?:by now|no more)\b/i;
/** Terms that contain such a term: a dead-letter queue, an HTTP connection. */
const TERMS = /dead.?letters?|keep.?alive/gi;
/** Files about writing systems. */
const ALPHABETS = /^worker\/pdf\/text\/|^test\/rules\/pdf\/|^test\/features\/receipts\/pdf\/|^local\/assets\/fonts\.ts$/;

const FRAGMENT = /^(?:What|Of|Whose|Where|Who|One|As)\b/;
/** First words of a test name that has no subject. */
const NO_SUBJECT = /^(?:is|are|was|were|has|have|and|but|or|of|whose|that|then|so|also|not|with|without|by|for|to|from|in|on|at)\b/i;
const DESCRIBES_NO_UNIT = /^(?:and|but|of|whose|is|are)\b/i;

interface SourceText {
  path: string;
  comments: string[];
  names: string[];
  /** Functions named `…Of` that wait for something. */
  asyncProjections: string[];
  cases: string[];
  groups: string[];
}

const wordsOf = (name: string): string[] => name.split(/(?<=[a-z0-9])(?=[A-Z])|_/).map((word) => word.toLowerCase());
const bannedIn = (path: string, words: string[]): string[] =>
  words.filter((word) => BANNED.has(word) && !(ALPHABETS.test(path) && /^letters?$/.test(word)));

function commentText(comment: string): string {
  return comment
    .replace(/^\/\*\*?\s*|\s*\*\/$/g, '')
    .replace(/^\s*(?:\/\/|\*) ?/gm, '')
    .replace(/@module\s*$/, '')
    .trim();
}

function readSource(path: string, text: string): SourceText {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS);
  const found: SourceText = { path, comments: [], names: [], asyncProjections: [], cases: [], groups: [] };
  const seen = new Set<number>();
  const noteComments = (node: ts.Node): void => {
    const ranges = [...(ts.getLeadingCommentRanges(text, node.pos) ?? []), ...(ts.getTrailingCommentRanges(text, node.end) ?? [])];
    for (const { pos, end } of ranges) {
      if (seen.has(pos)) continue;
      seen.add(pos);
      found.comments.push(text.slice(pos, end));
    }
  };
  const visit = (node: ts.Node): void => {
    if (node.kind === ts.SyntaxKind.JsxText) return;
    noteComments(node);
    if ((ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) && isDeclaredBy(node)) found.names.push(node.text.replace('#', ''));
    const projection = asyncProjection(node, file);
    if (projection !== null) found.asyncProjections.push(projection);
    const title = titleOf(node, file);
    if (title !== null) (title.isCase ? found.cases : found.groups).push(title.text);
    for (const child of node.getChildren(file)) visit(child);
  };
  visit(file);
  return found;
}

/** True for the name of a declaration in this file. Names of keys in an object literal belong to the type they fill. */
function isDeclaredBy(node: ts.Identifier | ts.PrivateIdentifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent) || ts.isImportSpecifier(parent)) return false;
  return 'name' in parent && parent.name === node;
}

function asyncProjection(node: ts.Node, file: ts.SourceFile): string | null {
  const isNamed =
    ts.isFunctionDeclaration(node) || (ts.isVariableDeclaration(node) && node.initializer && ts.isArrowFunction(node.initializer));
  if (!isNamed || !node.name || !/[a-z]Of$/.test(node.name.getText(file))) return null;
  const fn = ts.isFunctionDeclaration(node) ? node : (node as ts.VariableDeclaration).initializer!;
  const { modifiers, type } = fn as ts.ArrowFunction;
  const isAsync = modifiers?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword) ?? false;
  return isAsync || /^Promise\b/.test(type?.getText(file) ?? '') ? node.name.getText(file) : null;
}

function titleOf(node: ts.Node, file: ts.SourceFile): { isCase: boolean; text: string } | null {
  if (!ts.isCallExpression(node)) return null;
  const [title] = node.arguments;
  const called = node.expression.getText(file);
  if (!title || !/^(?:it|describe)\b/.test(called)) return null;
  if (!ts.isStringLiteralLike(title) && !ts.isTemplateExpression(title)) return null;
  return { isCase: called.startsWith('it'), text: title.getText(file).slice(1, -1) };
}

const files = [...program, ...tests].filter(([path]) => /\.tsx?$/.test(path)).map(([path, text]) => readSource(path, text));
const comments = files.flatMap(({ path, comments: own }) => own.map((comment) => ({ path, comment, text: commentText(comment) })));
const show = ({ path, text }: { path: string; text: string }): string => `${path}: ${text.slice(0, 420)}`;
const isDirective = (text: string): boolean => /^(?:@ts-|biome-ignore|@module-tag|@jsx)/.test(text);

describe('names and comments', () => {
  it('every file is read: its names, comments and test names', () => {
    expect(files.length).toBeGreaterThan(900);
    const sample = readSource('x.ts', "/** What is told. */\nasync function priceOf(told: string) {}\ndescribe('a', () => it('is b', f));");
    expect(sample).toMatchObject({ names: ['priceOf', 'told'], asyncProjections: ['priceOf'], cases: ['is b'], groups: ['a'] });
    expect(sample.comments.map(commentText)).toEqual(['What is told.']);
    expect(bannedIn('x.ts', wordsOf('toldBefore'))).toEqual(['told']);
  });

  it('a name has no word of several meanings', () => {
    const stray = files.flatMap(({ path, names }) =>
      [...new Set(names)].filter((name) => bannedIn(path, wordsOf(name.replace(TERMS, ''))).length > 0).map((name) => `${path}: ${name}`),
    );
    expect(stray).toEqual([]);
  });

  it('a comment has no word of several meanings', () => {
    const stray = comments.filter(({ path, text }) => {
      const plain = text.replace(TERMS, '').replace(/`[^`]*`/g, '');
      return BANNED_PHRASE.test(plain) || bannedIn(path, plain.toLowerCase().match(/[a-z_]+/g) ?? []).length > 0;
    });
    expect(stray.map(show)).toEqual([]);
  });

  it('a comment begins with a verb or names its subject', () => {
    expect(comments.filter(({ text }) => FRAGMENT.test(text)).map(show)).toEqual([]);
  });

  it('a comment has at most three lines and no semicolon', () => {
    const long = comments.filter(({ text }) => !isDirective(text) && text.split('\n').filter((line) => line.trim() !== '').length > 3);
    expect(long.map(show)).toEqual([]);
    expect(comments.filter(({ text }) => text.replace(/`[^`]*`/g, '').includes(';')).map(show)).toEqual([]);
  });

  it('a name that ends in Of is a projection and never waits', () => {
    expect(files.flatMap(({ path, asyncProjections }) => asyncProjections.map((name) => `${path}: ${name}`))).toEqual([]);
  });

  it('the service has at most one line of comment for eight lines of code', () => {
    const service = [...program].filter(([path]) => path.startsWith('worker/'));
    const lines = service.reduce((sum, [, text]) => sum + text.split('\n').filter((line) => line.trim() !== '').length, 0);
    const commented = comments
      .filter(({ path }) => path.startsWith('worker/'))
      .reduce((sum, { comment }) => sum + comment.split('\n').length, 0);
    expect(commented / (lines - commented)).toBeLessThanOrEqual(1 / 8);
  });
});

describe('test names', () => {
  it('the name of a test is a sentence with a subject', () => {
    expect(files.flatMap(({ path, cases }) => cases.filter((name) => NO_SUBJECT.test(name)).map((text) => show({ path, text })))).toEqual(
      [],
    );
  });

  it('the name of a group is a unit', () => {
    const stray = files.flatMap(({ path, groups }) =>
      groups.filter((name) => DESCRIBES_NO_UNIT.test(name)).map((text) => ({ path, text })),
    );
    expect(stray.map(show)).toEqual([]);
  });

  it('the name of a test or a group has no word of several meanings', () => {
    const stray = files.flatMap(({ path, cases, groups }) =>
      [...cases, ...groups]
        .filter(
          (name) =>
            bannedIn(
              path,
              name
                .replace(TERMS, '')
                .replace(/\$\{[^}]*\}/g, '')
                .toLowerCase()
                .match(/[a-z_]+/g) ?? [],
            ).length > 0,
        )
        .map((text) => ({ path, text })),
    );
    expect(stray.map(show)).toEqual([]);
  });
});
