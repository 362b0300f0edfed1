import { formatInstant } from '../../pages/parts/text.ts';
import type { Letter, LetterFacts } from '../letter.ts';

export const passwordChangedLetter: Letter<LetterFacts['password_changed']> = {
  pref: null,
  to: 'anyone',
  path: () => '/login',
  values: ({ at }, locale) => ({ at: formatInstant(locale, at, 'UTC') }),
  words: {
    en: {
      subject: 'Your password was changed',
      lines: ['The password of your account was changed on {at}. Every session has ended.', 'If it was not you, set a new password now.'],
      button: 'Sign in',
    },
    es: {
      subject: 'Su contraseña ha cambiado',
      lines: [
        'La contraseña de su cuenta cambió el {at}. Todas las sesiones se han cerrado.',
        'Si no ha sido usted, elija ahora una contraseña nueva.',
      ],
      button: 'Iniciar sesión',
    },
    de: {
      subject: 'Ihr Passwort wurde geändert',
      lines: [
        'Das Passwort Ihres Kontos wurde am {at} geändert. Alle Sitzungen wurden beendet.',
        'Wenn Sie das nicht waren, legen Sie jetzt ein neues Passwort fest.',
      ],
      button: 'Anmelden',
    },
    fr: {
      subject: 'Votre mot de passe a été modifié',
      lines: [
        'Le mot de passe de votre compte a été modifié le {at}. Toutes les sessions sont terminées.',
        'Si ce n’était pas vous, choisissez tout de suite un nouveau mot de passe.',
      ],
      button: 'Se connecter',
    },
    'pt-BR': {
      subject: 'Sua senha foi alterada',
      lines: [
        'A senha da sua conta foi alterada em {at}. Todas as sessões foram encerradas.',
        'Se não foi você, defina uma nova senha agora.',
      ],
      button: 'Entrar',
    },
    ja: {
      subject: 'パスワードが変更されました',
      lines: [
        'アカウントのパスワードが{at}に変更されました。すべてのセッションは終了しました。',
        'お心当たりがない場合は、今すぐ新しいパスワードを設定してください。',
      ],
      button: 'サインイン',
    },
  },
};
