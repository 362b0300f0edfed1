import { Time } from '../frame/format.tsx';
import { type Filter, listBody } from '../frame/list.tsx';
import type { Definition, Screen } from '../frame/screen.tsx';

interface Entry {
  entry_id: string;
  at: string;
  actor: { kind: string; id?: string; name?: string; role?: string };
  action: string;
  subject: { type: string; id: string };
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
  outcome: string;
  reason?: string;
  ip?: string;
}

const FILTERS: Filter[] = [
  { name: 'action', label: 'Action, such as key.*' },
  { name: 'actor_id', label: 'Id of the person or key' },
  { name: 'subject_id', label: 'Id of the object' },
  { name: 'q', label: 'Search text' },
];

export const LOG: Definition = {
  path: '/dashboard/log',
  title: 'Audit log',
  body: listBody<Entry>({
    operation: 'listAuditLog',
    filters: FILTERS,
    hasFile: true,
    caption: 'Entries, newest first',
    head: ['Action', 'When', 'Who', 'About', 'Change', 'Outcome', 'Address'],
    empty: <p>Nothing was done yet.</p>,
    before: showChain,
    row: ({ at, actor, action, subject, before, after, outcome, reason, ip }) => [
      <>
        {wordsOf(action)} <code>{action}</code>
      </>,
      <Time at={at} hasSeconds />,
      <>
        {actor.kind} <bdi>{actor.name ?? actor.id ?? ''}</bdi> {actor.role}
      </>,
      <>
        {subject.type} <bdi>{subject.id}</bdi>
      </>,
      <Changes before={before} after={after} />,
      <>
        {outcome} {reason}
      </>,
      ip,
    ],
  }),
  acts: {},
};

/** Words of an action: `payout.changed` is “Payout changed”. */
const wordsOf = (action: string): string => {
  const words = action.replaceAll(/[._]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

const shownOf = (value: unknown): string =>
  value === undefined || value === null ? 'nothing' : typeof value === 'string' ? value : JSON.stringify(value);

/** Changed fields, each with its value before and after the action. */
const Changes = ({ before = {}, after = {} }: Pick<Entry, 'before' | 'after'>) => (
  <>
    {[...new Set([...Object.keys(before), ...Object.keys(after)])].map((field) => (
      <div>
        {field.replaceAll('_', ' ')}: <bdi>{shownOf(before[field])}</bdi> → <bdi>{shownOf(after[field])}</bdi>
      </div>
    ))}
  </>
);

interface Verified {
  valid: boolean;
  checked: number;
  broken_at?: number;
}

/** Verifies the chain only if asked, because that reads every entry. */
async function showChain({ c, operations, path, mode }: Screen) {
  const chain = c.req.query('verify') === 'true' ? await operations.call<Verified>('verifyAuditLog') : null;
  return chain?.ok ? (
    <Chain {...chain.value} />
  ) : (
    <a href={`${path}?verify=true&mode=${mode}`}>Verify that no entry is missing or changed</a>
  );
}

const Chain = ({ valid, checked, broken_at: brokenAt }: Verified) => (
  <p class={valid ? 'done' : 'problem'}>
    {valid ? `The chain is complete: ${checked} entries, none missing or changed.` : `Entry ${brokenAt} is missing or was changed.`}
  </p>
);
