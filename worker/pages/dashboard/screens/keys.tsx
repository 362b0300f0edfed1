import { PAGE_ASSETS } from '../../assets.ts';
import { Table } from '../../parts/table.tsx';
import { acted, beyondRole, idempotent, mayAct, notFound, notTyped } from '../frame/acts.ts';
import { ActForm, ConfirmField, ConfirmFirst, SelectField, shownOnce, TextField } from '../frame/fields.tsx';
import { Time } from '../frame/format.tsx';
import { linkTo } from '../frame/head.tsx';
import { Facts } from '../frame/list.tsx';
import type { Answer } from '../frame/operations.ts';
import { type Acted, type Definition, type Form, isFresh, type Screen } from '../frame/screen.tsx';

interface ApiKey {
  id: string;
  name: string;
  key_prefix: string;
  permissions: string[];
  sandbox_mode: boolean;
  last_used_at: string | null;
  last_used_ip: string | null;
  created_at: string;
  revoked_at: string | null;
  scopes: string[] | null;
  expires_at: string | null;
  ends_at?: string;
  allowed_ips: string[] | null;
  usage_summary: { total_calls: number; error_calls: number; latest_endpoint: string | null };
}
interface Made {
  endpoints: { endpoint_id: string; url: string }[];
  hooks: { endpoint_id: string; url: string }[];
}

const PERMISSIONS = [
  ['execute', 'read and write'],
  ['read', 'read'],
] as const;
const OVERLAPS = [
  ['24', 'a day'],
  ['168', 'a week'],
  ['0', 'not at all'],
] as const;

const listOf = (text: string | undefined): string[] | undefined => {
  const items = (text ?? '').split(/[\s,]+/).filter(Boolean);
  return items.length > 0 ? items : undefined;
};
const optional = (text: string | undefined): string | undefined => text?.trim() || undefined;

/** Secret of a new key, in this response alone. */
const shownKey = (screen: Screen, answer: Answer<{ raw_key: string }>): Acted =>
  shownOnce(
    answer,
    ({ raw_key: rawKey }) => rawKey,
    <p>
      <a href={linkTo(screen, '/dashboard/keys')}>Back to the keys</a>
    </p>,
  );

const mayOf = ({ permissions }: ApiKey): string => PERMISSIONS[permissions.includes('execute') ? 0 : 1][1];

const stateOf = ({ revoked_at: revoked, ends_at: ends, expires_at: expires }: ApiKey) =>
  revoked ? 'revoked' : ends ? <>replaced, ends {<Time at={ends} />}</> : expires ? <>until {<Time at={expires} />}</> : 'active';

export const KEYS: Definition = {
  path: '/dashboard/keys',
  title: 'API keys',
  async body(screen) {
    const keys = await screen.operations.call<ApiKey[]>('listKeys', { query: { mode: screen.mode } });
    if (!keys.ok) return keys;
    const items = keys.value.filter(({ sandbox_mode: isSandbox }) => isSandbox === (screen.mode === 'sandbox'));
    return (
      <section>
        {items.length === 0 ? (
          <p>
            A key lets your server call the API. <a href="/docs/keys-for-servers">Which key for which job</a>
          </p>
        ) : (
          <Table
            caption="Keys"
            head={['Key', 'Begins with', 'May', 'State', 'Last used']}
            rows={items.map((key) => [
              <a href={linkTo(screen, `/dashboard/keys/${key.id}`)}>
                <bdi>{key.name}</bdi>
              </a>,
              key.key_prefix,
              key.scopes?.join(', ') ?? mayOf(key),
              stateOf(key),
              <>
                {key.last_used_at !== null && <Time at={key.last_used_at} />} {key.last_used_ip}
              </>,
            ])}
          />
        )}
        <p>
          <a class="button" href={linkTo(screen, '/dashboard/keys/new')}>
            Create key
          </a>
        </p>
      </section>
    );
  },
  acts: {},
};

const bodyOf = (form: Form, mode: Screen['mode']) => ({
  name: form.name?.trim(),
  sandbox_mode: mode === 'sandbox',
  permissions: form.permissions === 'read' ? ['read'] : ['read', 'execute'],
  scopes: listOf(form.scopes),
  allowed_ips: listOf(form.allowed_ips),
  expires_at: optional(form.expires_at),
});

export const NEW_KEY: Definition = {
  path: '/dashboard/keys/new',
  title: 'New API key',
  scripts: [PAGE_ASSETS.dashboard],
  async body(screen) {
    if (!mayAct(screen, 'create')) return beyondRole(screen, 'create');
    // A new key is shown alone, so that a second press makes no second one.
    if (screen.c.req.method === 'POST' && screen.refused === null) return '';
    const terms = { screen, act: 'create' };
    return (
      <section>
        {screen.mode === 'live' && !isFresh(screen) && <ConfirmFirst screen={screen} />}
        <Kind {...screen} />
        <ActForm {...terms} submit="Create key">
          <TextField {...terms} name="name" label="Name" help="Where the key is used, such as “weather server”" max={100} />
          <SelectField {...terms} name="permissions" label="May" value="execute" options={PERMISSIONS} />
          <Limits {...terms} />
        </ActForm>
      </section>
    );
  },
  acts: {
    create: {
      needs: 'keys:write',
      done: 'The key is made.',
      run: async (screen, form) =>
        shownKey(
          screen,
          await screen.operations.call<{ raw_key: string }>('createKey', { body: bodyOf(form, screen.mode), ...idempotent(form) }),
        ),
    },
  },
};

/** Kind of a new key, which the mode of the page decides. */
const Kind = ({ mode, path }: Pick<Screen, 'mode' | 'path'>) => (
  <p>
    {mode === 'live'
      ? 'This is a live key: it reads and changes real data. '
      : 'This is a test key: it reads and changes test data alone. '}
    <a href={linkTo({ mode: mode === 'live' ? 'sandbox' : 'live' }, path)}>
      {mode === 'live' ? 'Create a test key instead' : 'Create a live key instead'}
    </a>
  </p>
);

const Limits = ({ apiKey, ...terms }: { screen: Screen; act: string; apiKey?: ApiKey }) => (
  <>
    <TextField
      {...terms}
      name="scopes"
      label="Scopes"
      help="Such as consume:write, customers:read. Empty: all that the key may"
      value={apiKey?.scopes?.join(', ') ?? ''}
      isOptional
    />
    <p>
      <a href="/docs/reference/permissions">All groups of scopes</a>
    </p>
    <TextField
      {...terms}
      name="allowed_ips"
      label="Networks"
      help="Addresses or CIDR blocks. Empty: from anywhere"
      value={apiKey?.allowed_ips?.join(', ') ?? ''}
      isOptional
    />
    <TextField
      {...terms}
      name="expires_at"
      label="Ends"
      help="Such as 2027-01-31T00:00:00Z. Empty: never"
      value={apiKey?.expires_at ?? ''}
      isOptional
    />
  </>
);

export const KEY: Definition = {
  path: '/dashboard/keys/:key_id',
  title: 'API key',
  scripts: [PAGE_ASSETS.dashboard],
  async body(screen) {
    const { c, operations, mode } = screen;
    const id = c.req.param('key_id') ?? '';
    const [keys, made] = await Promise.all([
      operations.call<ApiKey[]>('listKeys', { query: { mode } }),
      operations.call<Made>('listKeyResources', { params: { key_id: id }, query: { mode } }),
    ]);
    if (!keys.ok) return keys;
    const key = keys.value.find((one) => one.id === id);
    if (!made.ok) return made;
    if (key === undefined) return notFound(c, 'No such key.');
    return (
      <>
        <section>
          <Facts
            rows={[
              ['Name', <bdi>{key.name}</bdi>],
              ['Begins with', key.key_prefix],
              ['State', stateOf(key)],
              ['Kind', key.sandbox_mode ? 'test key' : 'live key'],
              ['May', mayOf(key)],
              ['Scopes', key.scopes?.join(', ') ?? 'all'],
              ['Networks', key.allowed_ips?.join(', ') ?? 'any'],
              ['Made', <Time at={key.created_at} />],
              ['Last used', key.last_used_at && <Time at={key.last_used_at} />],
              ['Last used from', key.last_used_ip],
              ['Calls', `${key.usage_summary.total_calls}, of them ${key.usage_summary.error_calls} refused`],
              ['Made endpoints', [...made.value.endpoints, ...made.value.hooks].map(({ url }) => url).join(', ')],
            ]}
          />
        </section>
        {key.revoked_at === null && <KeyActs screen={screen} apiKey={key} />}
      </>
    );
  },
  acts: {
    update: {
      needs: 'keys:write',
      done: 'The key is changed.',
      run: async ({ c, operations }, form) =>
        acted(
          await operations.call('updateKey', {
            params: { key_id: c.req.param('key_id') ?? '' },
            body: {
              name: form.name?.trim(),
              scopes: listOf(form.scopes) ?? null,
              allowed_ips: listOf(form.allowed_ips) ?? null,
              expires_at: optional(form.expires_at) ?? null,
            },
            ...idempotent(form),
          }),
        ),
    },
    roll: {
      needs: 'keys:write',
      done: 'The key is rolled.',
      run: async (screen, form) =>
        shownKey(
          screen,
          await screen.operations.call<{ raw_key: string }>('rollKey', {
            params: { key_id: screen.c.req.param('key_id') ?? '' },
            body: { overlap_hours: Number(form.overlap_hours) },
            ...idempotent(form),
          }),
        ),
    },
    revoke: {
      needs: 'keys:write',
      done: 'The key is revoked.',
      async run({ c, operations, mode }, form) {
        const id = c.req.param('key_id') ?? '';
        const keys = await operations.call<ApiKey[]>('listKeys', { query: { mode } });
        if (!keys.ok) return keys;
        const key = keys.value.find((one) => one.id === id);
        if (key === undefined) return notFound(c, 'No such key.');
        if (form.confirm !== key.name) return notTyped(c, key.name);
        const query = form.made === 'end' ? { query: { with: 'endpoints' } } : {};
        return acted(await operations.call('revokeKey', { params: { key_id: id }, ...query, ...idempotent(form) }));
      },
    },
  },
};

/** Acts of a key that was not rolled. */
const ChangeActs = ({ screen, apiKey }: { screen: Screen; apiKey: ApiKey }) => (
  <>
    {screen.mode === 'live' && !isFresh(screen) && <ConfirmFirst screen={screen} />}
    <section>
      <h2>Edit</h2>
      <ActForm screen={screen} act="update" submit="Save">
        <TextField screen={screen} act="update" name="name" label="Name" value={apiKey.name} max={100} />
        <Limits screen={screen} act="update" apiKey={apiKey} />
      </ActForm>
    </section>
    <section>
      <h2>Roll</h2>
      <p>A new key with the same limits. The present one works on for the time that you choose.</p>
      <ActForm screen={screen} act="roll" submit="Roll">
        <SelectField screen={screen} act="roll" name="overlap_hours" label="The present key works on" value="24" options={OVERLAPS} />
      </ActForm>
    </section>
  </>
);

const KeyActs = ({ screen, apiKey }: { screen: Screen; apiKey: ApiKey }) => (
  <>
    {apiKey.ends_at === undefined && <ChangeActs screen={screen} apiKey={apiKey} />}
    <section>
      <h2>Revoke</h2>
      <ActForm screen={screen} act="revoke" submit="Revoke" isFinal>
        <label class="check">
          <input type="checkbox" name="made" value="end" />
          Also disable the endpoints that it made
        </label>
        <ConfirmField screen={screen} act="revoke" name={apiKey.name} />
      </ActForm>
    </section>
  </>
);
