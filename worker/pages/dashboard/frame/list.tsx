import type { Child } from 'hono/jsx';
import { Table } from '../../parts/table.tsx';

import { startOfDay } from './format.tsx';
import { linkTo } from './head.tsx';
import type { OperationId, Problem } from './operations.ts';
import type { Definition, Screen } from './screen.tsx';

export interface Filter {
  /** Name of the operation's parameter. */
  name: string;
  label: string;
  options?: readonly (string | readonly [value: string, text: string])[];
  /** Value of the API if the parameter is absent. Otherwise: any. */
  unset?: string;
  /** For a date, the day in the account's zone that begins the list, or ends it. */
  day?: 'first' | 'last';
}

/** Filters by the day of creation, in the account's zone. */
export const DAYS: readonly Filter[] = [
  { name: 'created_from', label: 'From', day: 'first' },
  { name: 'created_to', label: 'To, this day included', day: 'last' },
];

/** Parameters as the operation takes them: a day is a moment there. */
const toSent = (asked: Record<string, string>, filters: readonly Filter[], zone: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(asked).map(([name, value]) => {
      const day = filters.find((filter) => filter.name === name)?.day;
      return [name, day ? startOfDay(value, zone, day === 'last' ? 1 : 0) : value];
    }),
  );

interface ListTerms<Item> {
  operation: OperationId;
  filters: readonly Filter[];
  /** Parameters that every page of the list has. */
  fixed?: Record<string, string>;
  /** True if the screen's path with `.csv` is a file of the filtered list. */
  hasFile?: boolean;
  /** True for a search, which lists nothing until it is asked. */
  needsFilter?: boolean;
  caption: string;
  head: string[];
  /** Sentence of a list without items and filters, and what to do next. */
  empty: Child;
  /** Cells of an item's row. The first one is the link. */
  row(item: Item, screen: Screen): Child[];
  /** Content above the list. */
  before?(screen: Screen): Promise<Child> | Child;
}

interface Listed<Item> {
  items: Item[];
  has_more: boolean;
  page: number;
}

/** Body of a screen that lists the items of an operation, with its filters as a form and its pages as links. */
export const listBody =
  <Item,>({
    operation,
    filters,
    fixed = {},
    hasFile = false,
    needsFilter = false,
    caption,
    head,
    empty,
    row,
    before,
  }: ListTerms<Item>): Definition['body'] =>
  async (screen) => {
    const { c, operations, mode, path } = screen;
    const asked = Object.fromEntries(
      [...filters.map(({ name }) => name), 'page'].flatMap((name) => {
        const value = c.req.query(name)?.trim();
        return value ? [[name, value]] : [];
      }),
    );
    const query = { ...asked, mode };
    const sent = { ...toSent(asked, filters, screen.me.timezone), mode };
    const isFiltered = Object.keys(asked).length > 0;
    const list = isFiltered || !needsFilter ? await operations.call<Listed<Item>>(operation, { query: { ...fixed, ...sent } }) : null;
    if (list && !list.ok && list.status !== 422) return list;
    const { items, has_more: hasMore, page } = list?.ok ? list.value : { items: [], has_more: false, page: 1 };
    const { page: _page, ...filtered } = sent as typeof sent & { page?: string };
    const toPage = (to: number) => `${path}?${new URLSearchParams({ ...query, page: String(to) })}`;
    const content = (
      <>
        {before && (await before(screen))}
        <section>
          {filters.length > 0 && <FilterForm screen={screen} filters={filters} asked={asked} submit={needsFilter ? 'Search' : 'Filter'} />}
          {list && !list.ok && <Refused problems={list.problems} />}
          {items.length > 0 && <Table caption={caption} head={head} rows={items.map((item) => row(item, screen))} />}
          {items.length === 0 && !isFiltered && empty}
          {items.length === 0 && isFiltered && (
            <p>
              Nothing matches. <a href={linkTo(screen, path)}>Show all</a>
            </p>
          )}
          <p>
            {page > 1 && <a href={toPage(page - 1)}>Newer</a>} {hasMore && <a href={toPage(page + 1)}>Older</a>}{' '}
            {hasFile && items.length > 0 && <a href={`${path}.csv?${new URLSearchParams(filtered)}`}>CSV</a>}
          </p>
        </section>
      </>
    );
    return list === null || list.ok ? content : { status: 422, content };
  };

const Refused = ({ problems }: { problems: Problem[] }) => (
  <div class="problem" role="alert" tabindex={-1} autofocus>
    {problems.map(({ loc, msg }) => (
      <p>{`${loc.slice(1).join('.')}: ${msg}`}</p>
    ))}
  </div>
);

interface FilterTerms {
  screen: Screen;
  filters: readonly Filter[];
  asked: Record<string, string>;
  submit: string;
}

const FilterForm = ({ screen, filters, asked, submit }: FilterTerms) => (
  <form class="act" method="get" action={screen.path}>
    {screen.mode === 'sandbox' && <input type="hidden" name="mode" value="sandbox" />}
    {filters.map(({ name, label, options, unset = 'any', day }) => (
      <div class="field">
        <label for={name}>{label}</label>
        {options ? (
          <select id={name} name={name}>
            <option value="">{unset}</option>
            {options.map((option) => {
              const [value, text] = typeof option === 'string' ? [option, option] : option;
              return (
                <option value={value} selected={asked[name] === value}>
                  {text}
                </option>
              );
            })}
          </select>
        ) : (
          <input id={name} name={name} type={day ? 'date' : 'text'} value={asked[name]} maxlength={day ? undefined : 200} />
        )}
      </div>
    ))}
    <button type="submit">{submit}</button>
  </form>
);

/** Names and values of one object. Absent values are left out. */
export const Facts = ({ rows }: { rows: readonly (readonly [name: string, value: Child])[] }) => (
  <dl>
    {rows
      .filter(([, value]) => value !== undefined && value !== null && value !== false && value !== '')
      .map(([name, value]) => (
        <>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </>
      ))}
  </dl>
);
