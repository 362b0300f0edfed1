import { acted, idempotent, notFound } from '../frame/acts.ts';
import { ActForm, ActSection, SelectField, shownOnce, Table, TextField } from '../frame/fields.tsx';
import { Time } from '../frame/format.tsx';
import { linkTo } from '../frame/head.tsx';
import { Facts, listBody } from '../frame/list.tsx';
import type { Answer } from '../frame/operations.ts';
import type { Acted, Definition, Screen } from '../frame/screen.tsx';

interface Endpoint {
  endpoint_id: string;
  kind: string;
  url: string;
  description?: string;
  event_types: string[];
  status: string;
  disabled_reason?: string;
  secret_hint: string;
  last_success_at?: string;
  last_failure_at?: string;
  failure_streak: number;
  failing_since?: string;
  disables_at?: string;
  created_at: string;
}
export interface Delivery {
  delivery_id: number;
  event_id: string;
  event_type: string;
  status: string;
  attempt: number;
  max_attempts: number;
  response_status?: number;
  error?: string;
  created_at: string;
  completed_at?: string;
}
const OVERLAPS = [
  ['24', 'a day'],
  ['72', 'three days'],
  ['0', 'not at all'],
] as const;

const shownSecret = (answer: Answer<{ secret: string }>): Acted =>
  shownOnce(
    answer,
    ({ secret }) => secret,
    <p>
      Your server verifies signatures with it. <a href="/docs/webhooks#verify-the-signature">How</a>
    </p>,
  );

const healthOf = ({ status, disabled_reason: reason, failing_since: since, disables_at: disables }: Endpoint) => {
  if (status === 'disabled') return `disabled (${(reason ?? 'by you').replaceAll('_', ' ')})`;
  if (since === undefined) return 'working';
  return (
    <>
      fails since <Time at={since} />
      {disables !== undefined && (
        <>
          , ends <Time at={disables} />
        </>
      )}
    </>
  );
};

export const WEBHOOKS: Definition = {
  path: '/dashboard/webhooks',
  title: 'Webhooks',
  body: listBody<Endpoint>({
    operation: 'listWebhookEndpoints',
    filters: [],
    caption: 'Endpoints',
    head: ['Endpoint', 'Events', 'Health', 'Last success'],
    empty: (
      <p>
        Your server hears of each payment here. <a href="/docs/webhooks">How to receive events</a>
      </p>
    ),
    before: (screen) => (
      <ActSection screen={screen} act="create" title="Add endpoint">
        <ActForm screen={screen} act="create" submit="Add endpoint">
          <TextField screen={screen} act="create" name="url" label="URL" help="An https address of your server" max={2048} />
          <TextField screen={screen} act="create" name="event_types" label="Events" help="Such as payment.*" value="*" max={1000} />
        </ActForm>
      </ActSection>
    ),
    row: (endpoint, screen) => [
      <a href={linkTo(screen, `/dashboard/webhooks/${endpoint.endpoint_id}`)}>
        <bdi>{endpoint.url}</bdi>
      </a>,
      endpoint.event_types.join(', '),
      healthOf(endpoint),
      endpoint.last_success_at !== undefined && <Time at={endpoint.last_success_at} />,
    ],
  }),
  acts: {
    create: {
      needs: 'webhooks:write',
      done: 'The endpoint is added.',
      run: async ({ operations, mode }, form) =>
        shownSecret(
          await operations.call<{ secret: string }>('createWebhookEndpoint', {
            query: { mode },
            body: { url: form.url?.trim(), event_types: (form.event_types ?? '').split(/[\s,]+/).filter(Boolean) },
            ...idempotent(form),
          }),
        ),
    },
  },
};

const deliveryRow = (delivery: Delivery, screen: Screen) => [
  <a href={linkTo(screen, `/dashboard/webhooks/deliveries/${delivery.delivery_id}`)}>{delivery.event_type}</a>,
  delivery.status,
  `${delivery.attempt} of ${delivery.max_attempts}`,
  delivery.response_status ?? delivery.error,
  <Time at={delivery.completed_at ?? delivery.created_at} />,
];

const named = ({ c, mode }: Screen) => ({ params: { endpoint_id: c.req.param('endpoint_id') ?? '' }, query: { mode } });

export const ENDPOINT: Definition = {
  path: '/dashboard/webhooks/:endpoint_id',
  title: 'Webhook endpoint',
  async body(screen) {
    const { c, operations, mode } = screen;
    const id = c.req.param('endpoint_id') ?? '';
    const [deliveries, endpoints] = await Promise.all([
      operations.call<{ items: Delivery[] }>('listWebhookDeliveries', { query: { endpoint_id: id, mode } }),
      operations.call<{ items: Endpoint[] }>('listWebhookEndpoints', { query: { per_page: '100', mode } }),
    ]);
    if (!endpoints.ok) return endpoints;
    if (!deliveries.ok) return deliveries;
    const endpoint = endpoints.value.items.find((one) => one.endpoint_id === id);
    if (endpoint === undefined) return notFound(c, 'No such endpoint.');
    return (
      <>
        <section>
          <Facts
            rows={[
              ['URL', <bdi>{endpoint.url}</bdi>],
              ['Kind', endpoint.kind],
              ['Description', endpoint.description && <bdi>{endpoint.description}</bdi>],
              ['Events', endpoint.event_types.join(', ')],
              ['Health', healthOf(endpoint)],
              ['Secret ends with', endpoint.secret_hint],
              ['Last success', endpoint.last_success_at && <Time at={endpoint.last_success_at} />],
              ['Last failure', endpoint.last_failure_at && <Time at={endpoint.last_failure_at} />],
              ['Failures since then', String(endpoint.failure_streak)],
              ['Added', <Time at={endpoint.created_at} />],
            ]}
          />
        </section>
        <section>
          {deliveries.value.items.length === 0 ? (
            <p>Nothing was sent here yet. A test event is sent at once.</p>
          ) : (
            <Table
              caption="Deliveries, newest first"
              head={['Event', 'Status', 'Attempt', 'Response', 'When']}
              rows={deliveries.value.items.map((delivery) => deliveryRow(delivery, screen))}
            />
          )}
        </section>
        <EndpointActs screen={screen} endpoint={endpoint} />
      </>
    );
  },
  acts: {
    test: {
      needs: 'webhooks:write',
      done: 'A test event is on its way.',
      run: async (screen, form) =>
        acted(await screen.operations.call('testWebhookEndpoint', { ...named(screen), body: {}, ...idempotent(form) })),
    },
    recover: {
      needs: 'webhooks:write',
      done: 'The failed events are sent again.',
      run: async (screen, form) =>
        acted(
          await screen.operations.call('recoverWebhookEndpoint', {
            ...named(screen),
            body: { since: form.since?.trim() },
            ...idempotent(form),
          }),
        ),
    },
    rotate: {
      needs: 'webhooks:write',
      done: 'The secret is rotated.',
      run: async (screen, form) =>
        shownSecret(
          await screen.operations.call<{ secret: string }>('rotateWebhookSecret', {
            ...named(screen),
            body: { overlap_hours: Number(form.overlap_hours) },
            ...idempotent(form),
          }),
        ),
    },
    status: {
      needs: 'webhooks:write',
      done: 'The endpoint is changed.',
      run: async (screen, form) =>
        acted(
          await screen.operations.call('updateWebhookEndpoint', { ...named(screen), body: { status: form.status }, ...idempotent(form) }),
        ),
    },
  },
};

const EndpointActs = ({ screen, endpoint }: { screen: Screen; endpoint: Endpoint }) => (
  <ActSection screen={screen} act="test" title="Change">
    {endpoint.status === 'enabled' && <ActForm screen={screen} act="test" submit="Send test" />}
    <ActForm screen={screen} act="recover" submit="Recover">
      <TextField
        screen={screen}
        act="recover"
        name="since"
        label="Send failed events again since"
        value={endpoint.failing_since ?? endpoint.last_success_at ?? endpoint.created_at}
      />
    </ActForm>
    <ActForm screen={screen} act="rotate" submit="Rotate secret">
      <SelectField
        screen={screen}
        act="rotate"
        name="overlap_hours"
        label="The present secret signs too for"
        value="24"
        options={OVERLAPS}
      />
    </ActForm>
    <ActForm
      screen={screen}
      act="status"
      submit={endpoint.status === 'enabled' ? 'Disable' : 'Enable'}
      isFinal={endpoint.status === 'enabled'}
    >
      <input type="hidden" name="status" value={endpoint.status === 'enabled' ? 'disabled' : 'enabled'} />
    </ActForm>
  </ActSection>
);
