// redsync SOCKET KEY LEASE_MS: one try with redsync; `held` until a line comes, then `released`; or `busy`.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

func main() {
	lease, err := strconv.Atoi(os.Args[3])
	if err != nil {
		panic(err)
	}
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: os.Args[1]})
	mutex := redsync.New(goredis.NewPool(client)).NewMutex(os.Args[2],
		redsync.WithTries(1), redsync.WithExpiry(time.Duration(lease)*time.Millisecond))
	if err := mutex.Lock(); err != nil {
		var taken *redsync.ErrTaken
		if !errors.As(err, &taken) && !errors.Is(err, redsync.ErrFailed) {
			panic(err)
		}
		fmt.Println("busy")
		return
	}
	fmt.Println("held")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	if _, err := mutex.Unlock(); err != nil {
		panic(err)
	}
	fmt.Println("released")
}
