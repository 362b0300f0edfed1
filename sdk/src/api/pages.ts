import type { Answer } from './call.ts';

/** Page of a list, as far as the next one follows from it. */
interface Page {
  items: unknown[];
  page?: number;
  has_more?: boolean;
  next?: string | null;
}

type Query = Record<string, unknown>;

/**
 * Page of a list: await it, or iterate over the items of this page and all that follow. Nothing is fetched before either.
 * A page that fails throws. Items that were yielded before stay valid.
 */
export interface PagePromise<P extends { items: unknown[] }> extends Promise<Answer<P>>, AsyncIterable<P['items'][number]> {}

/** Fetches the first page once, and the others for each iteration. */
export class LazyPages implements PagePromise<Page> {
  readonly [Symbol.toStringTag] = 'PagePromise';
  readonly #fetch: (query: Query) => Promise<Answer<Page>>;
  readonly #query: Query;
  readonly #isByCursor: boolean;
  #first: Promise<Answer<Page>> | null = null;

  constructor(query: Query, isByCursor: boolean, fetch: (query: Query) => Promise<Answer<Page>>) {
    this.#query = query;
    this.#isByCursor = isByCursor;
    this.#fetch = fetch;
  }

  // biome-ignore lint/suspicious/noThenProperty: a promise that begins when it is awaited.
  then<A = Answer<Page>, B = never>(
    onDone?: ((page: Answer<Page>) => A | PromiseLike<A>) | null,
    onFailed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#begin().then(onDone, onFailed);
  }

  catch<B = never>(onFailed?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<Answer<Page> | B> {
    return this.#begin().catch(onFailed);
  }

  finally(onEnd?: (() => void) | null): Promise<Answer<Page>> {
    return this.#begin().finally(onEnd);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<unknown, void, undefined> {
    for (let page = await this.#begin(); ; ) {
      yield* page.items;
      const following = this.#queryAfter(page);
      if (following === null) return;
      page = await this.#fetch(following);
    }
  }

  #begin(): Promise<Answer<Page>> {
    this.#first ??= this.#fetch(this.#query).catch((error: unknown) => {
      // The next loop asks again.
      this.#first = null;
      throw error;
    });
    return this.#first;
  }

  /** Returns the query of the next page. Null: the page is the last. */
  #queryAfter({ items, page = 1, has_more, next }: Page): Query | null {
    if (!this.#isByCursor) return has_more && items.length > 0 ? { ...this.#query, page: page + 1 } : null;
    const last = items.at(-1) as { id?: string } | undefined;
    const after = next === undefined ? (has_more ? last?.id : undefined) : next;
    return after ? { ...this.#query, page: undefined, after } : null;
  }
}
