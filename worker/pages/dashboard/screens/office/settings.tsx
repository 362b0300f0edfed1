import { PAGE_ASSETS } from '../../../assets.ts';
import { acted, idempotent, mayAct } from '../../frame/acts.ts';
import { ActForm, ActSection, SelectField, TextField } from '../../frame/fields.tsx';
import { Facts } from '../../frame/list.tsx';
import type { Definition, Form, Screen } from '../../frame/screen.tsx';

interface Domain {
  domain: string;
  status: string;
  controller_record: { type: string; name: string; value: string };
}

const LOCALES = [
  ['en', 'English'],
  ['es', 'Español'],
  ['de', 'Deutsch'],
  ['fr', 'Français'],
  ['pt-BR', 'Português (Brasil)'],
  ['ja', '日本語'],
] as const;
const SWITCH = [
  ['true', 'yes'],
  ['false', 'no'],
] as const;
const NOTICES = [
  ['webhooks', 'Endpoints that fail'],
  ['payouts', 'Payouts'],
  ['renewals', 'Renewals'],
  ['buyer_receipts', 'Receipts to buyers'],
  ['product_news', 'News of this service'],
] as const;
const BRAND = [
  ['checkout_brand_name', 'Name on the checkout', 80, 'Empty: the name of the account'],
  ['checkout_logo_url', 'Address of the logo', 2000, 'Picture on the web, such as https://shop.example.com/logo.png'],
  ['checkout_accent_hex', 'Accent colour', 7, 'For example #0a7d4f'],
  ['checkout_success_button_label', 'Text of the button after paying', 40, 'For example Back to the shop'],
  ['default_redirect_url', 'Where buyers go after paying', 2000, 'Page such as https://shop.example.com/thanks'],
  ['default_support_url', 'Where buyers get help', 2000, 'Page such as https://shop.example.com/help'],
] as const;

/** Fields of one group, as an object of the API. */
const groupOf = (form: Form, group: string, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, form[`${group}.${name}`]?.trim() ?? '']));
const update = async ({ operations, mode }: Screen, form: Form, body: object) =>
  acted(await operations.call('updateAccount', { query: { mode }, body, ...idempotent(form) }));

export const SETTINGS: Definition = {
  path: '/dashboard/settings',
  title: 'Settings',
  scripts: [PAGE_ASSETS.dashboard],
  async body(screen) {
    const { me, operations } = screen;
    const domain = await operations.call<Domain>('getDomain');
    return (
      <>
        {!mayAct(screen, 'account') && <Read {...me} />}
        <ActSection screen={screen} act="account" title="Account">
          <ActForm screen={screen} act="account" submit="Save">
            <TextField screen={screen} act="account" name="display_name" label="Name" max={120} value={me.display_name} />
            <TextField
              screen={screen}
              act="account"
              name="timezone"
              label="Time zone"
              help="For example Europe/Lisbon"
              suggestions={Intl.supportedValuesOf('timeZone')}
              value={me.timezone}
            />
            <SelectField screen={screen} act="account" name="locale" label="Language of emails" options={LOCALES} value={me.locale} />
          </ActForm>
        </ActSection>
        <ActSection screen={screen} act="brand" title="Brand">
          <p>Buyers see it on each page of yours.</p>
          <BrandPreview {...me} />
          <ActForm screen={screen} act="brand" submit="Save">
            {BRAND.map(([name, label, max, help]) => (
              <TextField
                screen={screen}
                act="brand"
                name={`merchant_settings.${name}`}
                label={label}
                help={help}
                isOptional
                max={max}
                value={me.merchant_settings[name] ?? ''}
              />
            ))}
          </ActForm>
        </ActSection>
        <ActSection screen={screen} act="notices" title="Emails to you">
          <ActForm screen={screen} act="notices" submit="Save">
            {NOTICES.map(([name, label]) => (
              <SelectField
                screen={screen}
                act="notices"
                name={`notification_prefs.${name}`}
                label={label}
                options={SWITCH}
                value={String(me.notification_prefs[name])}
              />
            ))}
          </ActForm>
        </ActSection>
        <DomainForms screen={screen} domain={domain.ok ? domain.value : null} />
      </>
    );
  },
  acts: {
    account: {
      needs: 'settings:write',
      done: 'The settings are saved.',
      run: (screen, form) => {
        const { display_name, timezone, locale } = form;
        return update(screen, form, { display_name: display_name?.trim(), timezone: timezone?.trim(), locale });
      },
    },
    brand: {
      needs: 'settings:write',
      done: 'The brand is saved.',
      run: (screen, form) =>
        update(screen, form, {
          merchant_settings: groupOf(
            form,
            'merchant_settings',
            BRAND.map(([name]) => name),
          ),
        }),
    },
    notices: {
      needs: 'settings:write',
      done: 'The emails are saved.',
      run: (screen, form) => {
        const asked = Object.entries(
          groupOf(
            form,
            'notification_prefs',
            NOTICES.map(([name]) => name),
          ),
        );
        return update(screen, form, { notification_prefs: Object.fromEntries(asked.map(([name, value]) => [name, value === 'true'])) });
      },
    },
    domain: {
      needs: 'webhooks:write',
      done: 'The domain is saved. Add its record, and it is proven within an hour.',
      run: async ({ operations }, form) =>
        acted(await operations.call('setDomain', { body: { domain: form.domain?.trim() }, ...idempotent(form) })),
    },
    no_domain: {
      needs: 'webhooks:write',
      done: 'The domain is removed.',
      run: async ({ operations }, form) => acted(await operations.call('deleteDomain', { ...idempotent(form) })),
    },
  },
};

/** Settings for a role that changes none. */
const Read = ({ display_name: name, timezone, locale, merchant_settings: brand, notification_prefs: notices }: Screen['me']) => (
  <section>
    <Facts
      rows={[
        ['Name', <bdi>{name}</bdi>],
        ['Time zone', timezone],
        ['Language of emails', LOCALES.find(([id]) => id === locale)?.[1]],
        ...BRAND.map(([id, label]) => [label, brand[id] && <bdi>{brand[id]}</bdi>] as const),
        ...NOTICES.map(([id, label]) => [label, notices[id] ? 'yes' : 'no'] as const),
      ]}
    />
  </section>
);

/** Head of a checkout as the script draws it from what is typed. Hidden without scripts. */
const BrandPreview = ({ display_name: name }: Screen['me']) => (
  <figure class="brand-preview" data-name={name} hidden>
    <figcaption>Preview</figcaption>
    <div>
      <img alt="" width={40} height={40} hidden />
      <bdi />
      <span class="sample">Pay 5 USDC</span>
    </div>
  </figure>
);

const DomainForms = ({ screen, domain }: { screen: Screen; domain: Domain | null }) => (
  <section>
    <h2>Domain</h2>
    {domain ? <DomainFacts {...domain} /> : <p>Buyers see a proven domain next to your name.</p>}
    <ActForm screen={screen} act="domain" submit="Save">
      <TextField
        screen={screen}
        act="domain"
        name="domain"
        label="Domain"
        help="For example shop.example.com"
        max={253}
        value={domain?.domain ?? ''}
      />
    </ActForm>
    {domain && <ActForm screen={screen} act="no_domain" submit="Remove" isFinal />}
  </section>
);

const DomainFacts = ({ domain, status, controller_record: { type, name, value } }: Domain) => (
  <Facts
    rows={[
      ['Domain', domain],
      ['State', status],
      ['Record to add', status !== 'verified' && <code>{`${name} ${type} ${value}`}</code>],
    ]}
  />
);
