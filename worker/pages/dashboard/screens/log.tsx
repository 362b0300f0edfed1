import { Time } from '../frame/format.tsx';
import { type Filter, listBody } from '../frame/list.tsx';
import type { Definition, Screen } from '../frame/screen.tsx';

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
    head: ['Action', 'When', 'Who', 'About', 'Outcome', 'Address'],
    empty: <p>Nothing was done yet.</p>,
    before: showChain,
    row: ({ at, actor, action, subject, outcome, reason, ip }) => [
      action,
      <Time at={at} hasSeconds />,
      <>
        {actor.kind} <bdi>{actor.name ?? actor.id ?? ''}</bdi> {actor.role}
      </>,
      <>
        {subject.type} <bdi>{subject.id}</bdi>
      </>,
      <>
        {outcome} {reason}
      </>,
      ip,
    ],
  }),
  acts: {},
};

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
