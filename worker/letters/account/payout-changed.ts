import { formatInstant } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

/** Where the money goes was changed: it cannot be switched off, because a thief of the account would switch it off first. */
export const payoutChangedLetter: Letter<LetterFacts['payout_changed']> = {
  pref: null,
  to: 'owner',
  path: () => '/login',
  values: ({ wallet, at }, locale) => ({ wallet: wallet ?? '—', at: formatInstant(locale, at, 'UTC') }),
  words: {
    en: {
      subject: 'Your payout wallet was changed',
      lines: ['Since {at} your sales are paid to this wallet: {wallet}', 'If it was not you, sign in and set your own wallet now.'],
      button: 'Sign in',
    },
    es: {
      subject: 'Su billetera de cobro ha cambiado',
      lines: [
        'Desde el {at} sus ventas se pagan a esta billetera: {wallet}',
        'Si no ha sido usted, inicie sesión y ponga ahora su propia billetera.',
      ],
      button: 'Iniciar sesión',
    },
    de: {
      subject: 'Ihre Auszahlungs-Wallet wurde geändert',
      lines: [
        'Seit {at} gehen Ihre Verkäufe an diese Wallet: {wallet}',
        'Wenn Sie das nicht waren, melden Sie sich an und hinterlegen Sie jetzt Ihre eigene Wallet.',
      ],
      button: 'Anmelden',
    },
    fr: {
      subject: 'Votre portefeuille de versement a été modifié',
      lines: [
        'Depuis le {at}, vos ventes sont versées sur ce portefeuille : {wallet}',
        'Si ce n’était pas vous, connectez-vous et indiquez tout de suite votre propre portefeuille.',
      ],
      button: 'Se connecter',
    },
    'pt-BR': {
      subject: 'Sua carteira de recebimento foi alterada',
      lines: ['Desde {at} suas vendas são pagas nesta carteira: {wallet}', 'Se não foi você, entre e defina sua própria carteira agora.'],
      button: 'Entrar',
    },
    ja: {
      subject: '受取ウォレットが変更されました',
      lines: [
        '{at}から、売上はこのウォレットに支払われます: {wallet}',
        'お心当たりがない場合は、サインインしてご自身のウォレットを今すぐ設定してください。',
      ],
      button: 'サインイン',
    },
  },
};
