"$RLOCK" lock acquire a --while-pid $$ >/dev/null || exit
sh $FOLDER/step || exit
exec sleep 60
