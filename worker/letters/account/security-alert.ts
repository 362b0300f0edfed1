import type { Locale } from '#core/locales.ts';
import { formatInstant, plainName } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts, SecurityChange } from '../letter.ts';

/** Sentence about each change; `{named}` is the provider, key or URL. */
const CHANGES: Record<Locale, Record<SecurityChange, string>> = {
  en: {
    email: 'The e-mail address of your account was changed.',
    provider_linked: '{named} was linked to your account as a way to sign in.',
    provider_unlinked: '{named} was removed from your account as a way to sign in.',
    live_key: 'A live API key was created: {named}',
    endpoint_added: 'A webhook endpoint was added: {named}',
  },
  es: {
    email: 'La dirección de correo de su cuenta ha cambiado.',
    provider_linked: '{named} se ha vinculado a su cuenta para iniciar sesión.',
    provider_unlinked: '{named} se ha quitado de su cuenta para iniciar sesión.',
    live_key: 'Se ha creado una clave de API real: {named}',
    endpoint_added: 'Se ha añadido un endpoint de webhook: {named}',
  },
  de: {
    email: 'Die E-Mail-Adresse Ihres Kontos wurde geändert.',
    provider_linked: '{named} wurde als Anmeldung mit Ihrem Konto verknüpft.',
    provider_unlinked: '{named} wurde als Anmeldung aus Ihrem Konto entfernt.',
    live_key: 'Ein Live-API-Schlüssel wurde erstellt: {named}',
    endpoint_added: 'Ein Webhook-Endpunkt wurde hinzugefügt: {named}',
  },
  fr: {
    email: 'L’adresse e-mail de votre compte a été modifiée.',
    provider_linked: '{named} a été lié à votre compte pour la connexion.',
    provider_unlinked: '{named} a été retiré de votre compte pour la connexion.',
    live_key: 'Une clé d’API réelle a été créée : {named}',
    endpoint_added: 'Un point de terminaison de webhook a été ajouté : {named}',
  },
  'pt-BR': {
    email: 'O endereço de e-mail da sua conta foi alterado.',
    provider_linked: '{named} foi vinculado à sua conta para entrar.',
    provider_unlinked: '{named} foi removido da sua conta para entrar.',
    live_key: 'Uma chave de API real foi criada: {named}',
    endpoint_added: 'Um endpoint de webhook foi adicionado: {named}',
  },
  ja: {
    email: 'アカウントのメールアドレスが変更されました。',
    provider_linked: '{named}がログイン方法としてアカウントに連携されました。',
    provider_unlinked: '{named}がログイン方法から解除されました。',
    live_key: '本番用のAPIキーが作成されました: {named}',
    endpoint_added: 'Webhookエンドポイントが追加されました: {named}',
  },
};

/** Change in how the account is opened or what acts for it. No preference switches it off: a thief of the account would. */
export const securityAlertLetter: Letter<LetterFacts['security_alert']> = {
  pref: null,
  to: 'anyone',
  path: () => '/login',
  values: ({ change, named, at }, locale) => ({
    what: CHANGES[locale][change].replace('{named}', () => plainName(named ?? '')),
    at: formatInstant(locale, at, 'UTC'),
  }),
  words: {
    en: {
      subject: 'Security alert for your account',
      lines: [
        '{what}',
        'Time: {at}',
        'If it was you, do nothing. If it was not, sign in, set a new password and undo the change. If you cannot sign in any more, contact the operator of this service.',
      ],
      button: 'Sign in',
    },
    es: {
      subject: 'Alerta de seguridad de su cuenta',
      lines: [
        '{what}',
        'Momento: {at}',
        'Si ha sido usted, no haga nada. Si no, inicie sesión, elija una contraseña nueva y deshaga el cambio. Si ya no puede entrar, escriba a quien opera este servicio.',
      ],
      button: 'Iniciar sesión',
    },
    de: {
      subject: 'Sicherheitshinweis zu Ihrem Konto',
      lines: [
        '{what}',
        'Zeitpunkt: {at}',
        'Wenn Sie das waren, müssen Sie nichts tun. Wenn nicht, melden Sie sich an, legen Sie ein neues Passwort fest und machen Sie die Änderung rückgängig. Wenn Sie sich nicht mehr anmelden können, wenden Sie sich an den Betreiber dieses Dienstes.',
      ],
      button: 'Anmelden',
    },
    fr: {
      subject: 'Alerte de sécurité concernant votre compte',
      lines: [
        '{what}',
        'Date : {at}',
        'Si c’était vous, ne faites rien. Sinon, connectez-vous, choisissez un nouveau mot de passe et annulez la modification. Si vous ne pouvez plus vous connecter, contactez l’exploitant de ce service.',
      ],
      button: 'Se connecter',
    },
    'pt-BR': {
      subject: 'Alerta de segurança da sua conta',
      lines: [
        '{what}',
        'Momento: {at}',
        'Se foi você, não faça nada. Se não foi, entre, defina uma nova senha e desfaça a alteração. Se não conseguir mais entrar, fale com quem opera este serviço.',
      ],
      button: 'Entrar',
    },
    ja: {
      subject: 'アカウントのセキュリティ通知',
      lines: [
        '{what}',
        '日時: {at}',
        'ご本人による変更であれば、何もする必要はありません。お心当たりがない場合は、ログインして新しいパスワードを設定し、変更を元に戻してください。ログインできなくなった場合は、このサービスの運営者にご連絡ください。',
      ],
      button: 'ログイン',
    },
  },
};
