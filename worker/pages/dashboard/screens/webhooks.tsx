import { DAY, HOUR, iso } from '#core/time.ts';
import { PAGE_ASSETS } from '../../assets.ts';
import { Table } from '../../parts/table.tsx';
import { acted, idempotent, notFound } from '../frame/acts.ts';
import { ActForm, ActSection, SelectField, shownOnce, TextField } from '../frame/fields.tsx';
import { Time } from '../frame/format.tsx';
import { linkTo } from '../frame/head.tsx';
import { Facts, listBody } from '../frame/list.tsx';
import type { Answer } from '../frame/operations.ts';
import type { Acted, Definition, Form, Screen } from '../frame/screen.tsx';

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
  next_attempt_at?: string | null;
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

const healthOf = ({ status, disabled_reason: reason, failing_since: since, disables_at: disables, last_success_at: success }: Endpoint) => {
  if (status === 'disabled') return `disabled (${(reason ?? 'by you').replaceAll('_', ' ')})`;
  if (since === undefined) return success === undefined ? 'no event was delivered yet' : 'working';
  return (
    <>
      fails since <Time at={since} />
      {disables !== undefined && (
        <>
          , is disabled on <Time at={disables} />
        </>
      )}
    </>
  );
};

const sentSettings = ({ url, event_types: types = '' }: Form) => ({ url: url?.trim(), event_types: types.split(/[\s,]+/).filter(Boolean) });

const Settings = ({ endpoint, ...terms }: { screen: Screen; act: string; endpoint?: Endpoint }) => (
  <>
    <TextField {...terms} name="url" label="URL" help="An https address of your server" value={endpoint?.url ?? ''} max={2048} />
    <TextField
      {...terms}
      name="event_types"
      label="Events"
      help="Such as payment.*"
      value={endpoint?.event_types.join(', ') ?? '*'}
      max={1000}
    />
  </>
);

export const WEBHOOKS: Definition = {
  path: '/dashboard/webhooks',
  title: 'Webhooks',
  scripts: [PAGE_ASSETS.dashboard],
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
          <Settings screen={screen} act="create" />
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
            body: sentSettings(form),
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
  delivery.next_attempt_at && <Time at={delivery.next_attempt_at} />,
  <Time at={delivery.completed_at ?? delivery.created_at} />,
];

const named = ({ c, mode }: Screen) => ({ params: { endpoint_id: c.req.param('endpoint_id') ?? '' }, query: { mode } });

export const ENDPOINT: Definition = {
  path: '/dashboard/webhooks/:endpoint_id',
  title: 'Webhook endpoint',
  scripts: [PAGE_ASSETS.dashboard],
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
              ['Failures since the last success', endpoint.failure_streak > 0 && String(endpoint.failure_streak)],
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
              head={['Event', 'Status', 'Attempt', 'Response', 'Next attempt', 'When']}
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
      done: (status) =>
        status === 0
          ? 'The test failed without an answer of the endpoint. Its delivery in the list says why.'
          : `The test ${status >= 200 && status < 300 ? 'succeeded' : 'failed'}: the endpoint answered ${status}.`,
      async run(screen, form) {
        const input = { ...named(screen), body: {}, ...idempotent(form) };
        const tested = await screen.operations.call<{ response_status?: number }>('testWebhookEndpoint', input);
        return tested.ok ? { ok: true, count: tested.value.response_status ?? 0 } : tested;
      },
    },
    recover: {
      needs: 'webhooks:write',
      done: (count) =>
        count === 0
          ? 'No event was missed for good. What failed is sent again by itself: the list says when, and “Replay” sends it now.'
          : `Events on their way again: ${count}.`,
      async run(screen, form) {
        const input = { ...named(screen), body: { since: form.since?.trim() }, ...idempotent(form) };
        const recovered = await screen.operations.call<{ scheduled: number }>('recoverWebhookEndpoint', input);
        return recovered.ok ? { ok: true, count: recovered.value.scheduled } : recovered;
      },
    },
    update: {
      needs: 'webhooks:write',
      done: 'The endpoint is changed.',
      run: async (screen, form) =>
        acted(await screen.operations.call('updateWebhookEndpoint', { ...named(screen), body: sentSettings(form), ...idempotent(form) })),
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

/** Beginnings of a recovery, each as the time that the API takes. */
const sinceOptions = (now: number) =>
  [
    [iso(now - HOUR), 'the last hour'],
    [iso(now - DAY), 'the last day'],
    [iso(now - 4 * DAY), 'the last four days'],
    [iso(now - 30 * DAY), 'the last 30 days'],
    [iso(now - 90 * DAY), 'the last 90 days'],
  ] as const;

function EndpointActs({ screen, endpoint }: { screen: Screen; endpoint: Endpoint }) {
  const sinces = sinceOptions(screen.c.var.ctx.now);
  return (
    <>
      <ActSection screen={screen} act="recover" title="Send events">
        <p>
          Events that the endpoint missed for good are sent again. Those that wait for their next attempt go out at the time in the list.
        </p>
        <ActForm screen={screen} act="recover" submit="Recover">
          <SelectField screen={screen} act="recover" name="since" label="Events of" value={sinces[2][0]} options={sinces} />
        </ActForm>
        {endpoint.status === 'enabled' && <ActForm screen={screen} act="test" submit="Send test" />}
      </ActSection>
      <ActSection screen={screen} act="update" title="Change">
        <ActForm screen={screen} act="update" submit="Save">
          <Settings screen={screen} act="update" endpoint={endpoint} />
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
    </>
  );
}
