import { Table, Time } from '../frame/fields.tsx';
import { type Definition, linkTo, type Screen } from '../frame/screen.tsx';

interface Entry {
  entry_id: string;
  at: string;
  actor: { kind: string; id?: string; name?: string; role?: string };
  action: string;
  subject: { type: string; id: string };
  outcome: string;
  reason?: string;
  ip?: string;
}

/** Filters of the operation that the form offers, with their labels. */
const FILTERS: [name: string, label: string][] = [
  ['action', 'Action, such as key.*'],
  ['actor_id', 'Id of the person or key'],
  ['subject_id', 'Id of the object'],
  ['q', 'Search text'],
];

export const LOG: Definition = {
  path: '/dashboard/log',
  title: 'Audit log',
  async body(screen) {
    const { operations, c, mode } = screen;
    const asked = Object.fromEntries(
      [...FILTERS.map(([name]) => name), 'page'].flatMap((name) => {
        const value = c.req.query(name)?.trim();
        return value ? [[name, value]] : [];
      }),
    );
    const query = { ...asked, mode };
    // Reads every entry, so only if asked.
    const isVerified = c.req.query('verify') === 'true';
    const [log, chain] = await Promise.all([
      operations.call<{ items: Entry[]; has_more: boolean; page: number }>('listAuditLog', { query }),
      isVerified ? operations.call<Verified>('verifyAuditLog') : null,
    ]);
    if (!log.ok && log.status !== 422) return log;
    const { items, has_more: hasMore, page } = log.ok ? log.value : { items: [], has_more: false, page: 1 };
    const toPage = (to: number) => `${screen.path}?${new URLSearchParams({ ...query, page: String(to) })}`;
    const content = (
      <>
        {chain?.ok ? (
          <Chain {...chain.value} />
        ) : (
          <a href={`${screen.path}?verify=true&mode=${mode}`}>Verify that no entry is missing or changed</a>
        )}
        <section>
          <Filter screen={screen} asked={asked} />
          {!log.ok && (
            <div class="problem" role="alert">
              {log.problems.map(({ loc, msg }) => (
                <p>{`${loc.slice(1).join('.')}: ${msg}`}</p>
              ))}
            </div>
          )}
          {items.length === 0 ? (
            <p>
              No entry matches. <a href={linkTo(screen, screen.path)}>Show all</a>
            </p>
          ) : (
            <Entries items={items} />
          )}
          <p>
            {page > 1 && <a href={toPage(page - 1)}>Newer</a>} {hasMore && <a href={toPage(page + 1)}>Older</a>}
          </p>
        </section>
      </>
    );
    return log.ok ? content : { status: 422, content };
  },
  acts: {},
};

interface Verified {
  valid: boolean;
  checked: number;
  broken_at?: number;
}

const Chain = ({ valid, checked, broken_at: brokenAt }: Verified) => (
  <p class={valid ? 'done' : 'problem'}>
    {valid ? `The chain is complete: ${checked} entries, none missing or changed.` : `Entry ${brokenAt} is missing or was changed.`}
  </p>
);

const Filter = ({ screen, asked }: { screen: Screen; asked: Record<string, string> }) => (
  <form class="act" method="get" action={screen.path}>
    {screen.mode === 'sandbox' && <input type="hidden" name="mode" value="sandbox" />}
    {FILTERS.map(([name, label]) => (
      <div class="field">
        <label for={name}>{label}</label>
        <input id={name} name={name} value={asked[name]} maxlength={200} />
      </div>
    ))}
    <button type="submit">Filter</button>
  </form>
);

const Entries = ({ items }: { items: Entry[] }) => (
  <Table caption="Entries, newest first" head={['Action', 'When', 'Who', 'About', 'Outcome', 'Address']}>
    {items.map(({ at, actor, action, subject, outcome, reason, ip }) => (
      <tr>
        <th scope="row">{action}</th>
        <td>
          <Time at={at} />
        </td>
        <td>
          {actor.kind} <bdi>{actor.name ?? actor.id ?? ''}</bdi> {actor.role}
        </td>
        <td>
          {subject.type} <bdi>{subject.id}</bdi>
        </td>
        <td>
          {outcome} {reason}
        </td>
        <td>{ip}</td>
      </tr>
    ))}
  </Table>
);
