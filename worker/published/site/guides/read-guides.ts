import { ERRORS, raise } from '#core/errors.ts';
import { Memory } from '#core/isolate/memory.ts';
import type { Ctx } from '#platform/context.ts';
import { CLIENT_CODES } from '../../errors/client-codes.ts';

/** Page of `/docs`, by its path without `/docs/`. */
export interface GuideEntry {
  path: string;
  title: string;
  description: string;
  /** Ids of the operations that the page names. */
  operations: string[];
}
export interface Chapter {
  title: string;
  pages: GuideEntry[];
}
export interface GuideSection {
  page: string;
  /** Id of the heading. Empty for what precedes the first heading. */
  id: string;
  title: string;
  text: string;
}

/** Address in the examples of docs/, replaced by that of this deployment. */
const EXAMPLE_ADDRESSES = /https:\/\/(?:pay|api)\.example\.com/g;
const PAGE_PATH = /^[a-z][a-z0-9-]*(?:\/[a-z][a-z0-9-]*)?$/;
const TEXTS_MAX = 300;
/** File of the index. No page of docs/ has this name. */
const INDEX = '_index';

const texts = new Memory<string, string>(TEXTS_MAX);

async function readText(ctx: Ctx, file: string): Promise<string> {
  const known = texts.get(file);
  if (known !== undefined) return known;
  const response = await ctx.env.ASSETS.fetch(`https://assets/docs-pages/${file}`);
  if (!response.ok) {
    ctx.note(`docs ${file}: HTTP ${response.status}`);
    return raise('temporarily_unavailable', { retryAfterSeconds: 1 });
  }
  const text = await response.text();
  texts.set(file, text);
  return text;
}

/** Replaces the address in examples by that of this deployment. */
export const atThisAddress = (ctx: Ctx, text: string): string => text.replaceAll(EXAMPLE_ADDRESSES, ctx.baseUrl);

export const readChapters = async (ctx: Ctx): Promise<Chapter[]> => JSON.parse(await readText(ctx, 'contents.json'));

/** Pages in reading order. */
export const readGuides = async (ctx: Ctx): Promise<GuideEntry[]> => (await readChapters(ctx)).flatMap(({ pages }) => pages);

export const readSections = async (ctx: Ctx): Promise<GuideSection[]> => JSON.parse(await readText(ctx, 'sections.json'));

const isGuide = async (ctx: Ctx, path: string): Promise<boolean> =>
  PAGE_PATH.test(path) && (await readGuides(ctx)).some((guide) => guide.path === path);

const isCode = (name: string): boolean => Object.hasOwn(ERRORS, name) || Object.hasOwn(CLIENT_CODES, name);

const readHtml = async (ctx: Ctx, file: string): Promise<string> =>
  atThisAddress(ctx, (JSON.parse(await readText(ctx, `${file}.json`)) as { html: string }).html);

/** HTML of `/docs`. */
export const readIndex = (ctx: Ctx): Promise<string> => readHtml(ctx, INDEX);

/** HTML of a page with this deployment's address in its examples. Null for an unknown page. */
export const readGuide = async (ctx: Ctx, path: string): Promise<string | null> =>
  (await isGuide(ctx, path)) ? readHtml(ctx, path) : null;

/** HTML of the page of an error code. Null for an unknown code. */
export const readErrorPage = async (ctx: Ctx, code: string): Promise<string | null> =>
  isCode(code) ? readHtml(ctx, `errors/${code}`) : null;

/** Page of `/docs` that is not a guide: all error codes or one of them. */
const isOther = (path: string): boolean => path === 'errors' || (path.startsWith('errors/') && isCode(path.slice('errors/'.length)));

/** Markdown of a page, with this deployment's address in its examples. Null for an unknown page. */
export const readMarkdown = async (ctx: Ctx, path: string): Promise<string | null> =>
  isOther(path) || (await isGuide(ctx, path)) ? atThisAddress(ctx, await readText(ctx, `${path}.md`)) : null;

/** Markdown of `/docs`, with links to that of every page. */
export const readIndexMarkdown = async (ctx: Ctx): Promise<string> => atThisAddress(ctx, await readText(ctx, `${INDEX}.md`));
