import { formatInstant } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

export const accountClaimedLetter: Letter<LetterFacts['account_claimed']> = {
  pref: null,
  to: 'anyone',
  path: () => '/login',
  values: ({ at, keys, endpoints, providers, wallets }, locale) => ({
    at: formatInstant(locale, at, 'UTC'),
    keys: String(keys),
    endpoints: String(endpoints),
    providers: String(providers),
    wallets: String(wallets),
  }),
  words: {
    en: {
      subject: 'Your address is proven, and your account is secured',
      lines: [
        'On {at} you proved the address of your account. Nobody had done so before, so whatever was set up until then has ended with every session.',
        'API keys: {keys}. Webhook endpoints: {endpoints}. Linked sign-in providers: {providers}. Payout wallets: {wallets}.',
        'Your products and payments are as they were. Set your payout wallet again, make new keys and enable your endpoints before you sell.',
      ],
      button: 'Sign in',
    },
    es: {
      subject: 'Su dirección está confirmada y su cuenta, protegida',
      lines: [
        'El {at} confirmó la dirección de su cuenta. Nadie lo había hecho antes, así que todo lo configurado hasta entonces ha terminado, con todas las sesiones.',
        'Claves de API: {keys}. Endpoints de webhook: {endpoints}. Proveedores de acceso vinculados: {providers}. Carteras de cobro: {wallets}.',
        'Sus productos y pagos siguen igual. Antes de vender, indique de nuevo su cartera de cobro, cree claves nuevas y active sus endpoints.',
      ],
      button: 'Iniciar sesión',
    },
    de: {
      subject: 'Ihre Adresse ist bestätigt und Ihr Konto gesichert',
      lines: [
        'Am {at} haben Sie die Adresse Ihres Kontos bestätigt. Das hatte vorher niemand getan; deshalb endete alles bis dahin Eingerichtete mit allen Sitzungen.',
        'API-Schlüssel: {keys}. Webhook-Endpunkte: {endpoints}. Verknüpfte Anmeldedienste: {providers}. Auszahlungs-Wallets: {wallets}.',
        'Ihre Produkte und Zahlungen sind unverändert. Geben Sie vor dem nächsten Verkauf Ihre Auszahlungs-Wallet neu an, erstellen Sie neue Schlüssel und aktivieren Sie Ihre Endpunkte.',
      ],
      button: 'Anmelden',
    },
    fr: {
      subject: 'Votre adresse est confirmée et votre compte sécurisé',
      lines: [
        'Le {at}, vous avez confirmé l’adresse de votre compte. Personne ne l’avait fait auparavant : tout ce qui avait été configuré jusque-là a pris fin, avec toutes les sessions.',
        'Clés d’API : {keys}. Points de terminaison de webhook : {endpoints}. Fournisseurs de connexion liés : {providers}. Portefeuilles de versement : {wallets}.',
        'Vos produits et paiements sont inchangés. Avant de vendre, indiquez à nouveau votre portefeuille de versement, créez de nouvelles clés et activez vos points de terminaison.',
      ],
      button: 'Se connecter',
    },
    'pt-BR': {
      subject: 'Seu endereço está confirmado e sua conta, protegida',
      lines: [
        'Em {at} você confirmou o endereço da sua conta. Ninguém o havia feito antes; por isso, tudo o que foi configurado até então terminou, com todas as sessões.',
        'Chaves de API: {keys}. Endpoints de webhook: {endpoints}. Provedores de login vinculados: {providers}. Carteiras de recebimento: {wallets}.',
        'Seus produtos e pagamentos continuam iguais. Antes de vender, informe novamente sua carteira de recebimento, crie chaves novas e ative seus endpoints.',
      ],
      button: 'Entrar',
    },
    ja: {
      subject: 'メールアドレスが確認され、アカウントが保護されました',
      lines: [
        '{at}にアカウントのメールアドレスが確認されました。これまで誰も確認していなかったため、それまでに設定されたものはすべてのセッションとともに無効になりました。',
        'APIキー：{keys}。Webhookエンドポイント：{endpoints}。連携したログイン：{providers}。受取ウォレット：{wallets}。',
        '商品と支払いはそのままです。販売の前に、受取ウォレットを設定し直し、新しいキーを作成し、エンドポイントを有効にしてください。',
      ],
      button: 'ログイン',
    },
  },
};
