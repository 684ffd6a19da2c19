; 41bb0a5cd8d61b06fe82197a21d38af4d9eede57adfac21ef4d5cb4935c23eb3 is the sha256 of the sources; tools/library_runtime.py writes this file
; ModuleID = 'runtime.c'
source_filename = "runtime.c"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

%struct.plan = type { i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32 }
%struct.plan_code = type { i32, i32, i32, i32, i32, i32, i32, i32, i64, i64, i64, i32, i32, i32, i32 }
%struct.pool = type { i64, i32, i32, i32, i32, i32, i32, ptr, ptr, [0 x i64] }
%struct.model_threads = type { i32, ptr, ptr }
%struct.context = type { ptr, ptr, ptr, ptr, i64, ptr }
%struct.block = type { ptr, ptr }
%struct.loop = type { ptr, ptr, ptr, %struct.group, i32 }
%struct.group = type { ptr, i32 }
%struct.model_description = type { ptr, ptr, ptr, ptr, ptr, i32, i32, i32, i32 }
%struct.plan_dimension = type { i32, i32, i64, i64 }
%struct.plan_tensor = type { i32, i32, i32, i32, i32, i32, double, i64, [8 x i64], i64 }
%struct.model_tensor = type { ptr, ptr, i32, i32, [8 x i64], i64, double, i64 }
%struct.plan_operation = type { i32, i32, i64, i64, i64 }
%struct.run = type { ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr, ptr }
%struct.model_buffer = type { ptr, i64 }
%struct.plan_indices = type { i32, i32, i32, i32 }
%struct.tensor = type { ptr, i32, i32, i32, i8, i8, i16, ptr, ptr, i64 }
%struct.plan_golden = type { i32, i32, i32, i32, [2 x i64] }
%struct.argument = type { i32, i32, %union.anon }
%union.anon = type { ptr }
%struct.plan_place = type { i32, i16, i16, i8, i8, i16, i32, i64, i64 }

@__TVMBackendAllocWorkspace = hidden local_unnamed_addr constant ptr @allocate, align 8
@__TVMBackendFreeWorkspace = hidden local_unnamed_addr constant ptr @release, align 8
@__TVMBackendParallelLaunch = hidden local_unnamed_addr constant ptr @launch, align 8
@__TVMFFIErrorSetRaisedFromCStr = hidden local_unnamed_addr constant ptr @set_error, align 8
@__TVMFFIErrorSetRaisedFromCStrParts = hidden local_unnamed_addr constant ptr @set_error_parts, align 8
@model_plan = external hidden constant %struct.plan, align 4
@.str = private unnamed_addr constant [9 x i8] c"no error\00", align 1
@.str.1 = private unnamed_addr constant [61 x i8] c"an argument, or the data of a tensor that has bytes, is null\00", align 1
@.str.2 = private unnamed_addr constant [61 x i8] c"an input or output has fewer bytes than its description says\00", align 1
@.str.3 = private unnamed_addr constant [78 x i8] c"data does not begin at a multiple of the alignment that its description names\00", align 1
@.str.4 = private unnamed_addr constant [87 x i8] c"a workspace or the memory of a pool is smaller than workspace_bytes or pool_bytes says\00", align 1
@.str.5 = private unnamed_addr constant [82 x i8] c"a dynamic dimension has a size that the model does not take, or sizes are missing\00", align 1
@.str.6 = private unnamed_addr constant [54 x i8] c"there is no input, output or dimension of this number\00", align 1
@.str.7 = private unnamed_addr constant [82 x i8] c"this processor lacks instructions that the code needs; export it for an older one\00", align 1
@.str.8 = private unnamed_addr constant [44 x i8] c"the function init was not called, or failed\00", align 1
@.str.9 = private unnamed_addr constant [86 x i8] c"the number of threads is 0, above 1 without a launch function, or above 256 of a pool\00", align 1
@.str.10 = private unnamed_addr constant [31 x i8] c"a computation refused its data\00", align 1
@.str.11 = private unnamed_addr constant [70 x i8] c"the library has no code of this name; its description lists the names\00", align 1
@.str.12 = private unnamed_addr constant [81 x i8] c"the program has no function pthread_create, or the system starts no more threads\00", align 1
@.str.13 = private unnamed_addr constant [85 x i8] c"a layer gives another result than the definition: report the processor and the layer\00", align 1
@.str.14 = private unnamed_addr constant [50 x i8] c"an input holds an index outside of what it counts\00", align 1
@.str.15 = private unnamed_addr constant [90 x i8] c"a dynamic dimension is no multiple of the number that its description says: pad or resize\00", align 1
@.str.16 = private unnamed_addr constant [73 x i8] c"the library was made without values for a self-test; export it with them\00", align 1
@.str.17 = private unnamed_addr constant [41 x i8] c"a status that this library does not give\00", align 1
@chosen = internal unnamed_addr global i32 0, align 4
@current = internal thread_local global ptr null, align 8
@.str.18 = private unnamed_addr constant [8 x i8] c"float32\00", align 1
@.str.19 = private unnamed_addr constant [5 x i8] c"bool\00", align 1
@reltable.model_status_text = private unnamed_addr constant [17 x i32] [i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.15 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.14 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.16 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.13 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.12 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.11 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.10 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.9 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.8 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.7 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.6 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.5 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.4 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.3 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.2 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str.1 to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32), i32 trunc (i64 sub (i64 ptrtoint (ptr @.str to i64), i64 ptrtoint (ptr @reltable.model_status_text to i64)) to i32)], align 4

; Function Attrs: nounwind
define i32 @model_init() local_unnamed_addr #0 {
  %1 = tail call fastcc i32 @choose_code(ptr noundef null) #17
  ret i32 %1
}

; Function Attrs: nounwind
define internal fastcc i32 @choose_code(ptr noundef readonly %0) unnamed_addr #0 {
  %2 = alloca [4 x i32], align 16
  %3 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %4 = zext i32 %3 to i64
  %5 = getelementptr inbounds i8, ptr @model_plan, i64 %4
  %6 = icmp eq ptr %0, null
  %7 = load i32, ptr @model_plan, align 4
  %8 = icmp eq i32 %7, 3
  br i1 %8, label %9, label %108

9:                                                ; preds = %1
  %10 = select i1 %6, i32 -7, i32 -11
  %11 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 2), align 4
  %12 = icmp eq i32 %11, 0
  br i1 %12, label %108, label %13

13:                                               ; preds = %9
  %14 = getelementptr inbounds i32, ptr %2, i64 3
  %15 = getelementptr inbounds i32, ptr %2, i64 2
  %16 = getelementptr inbounds i32, ptr %2, i64 1
  %17 = zext i32 %11 to i64
  br label %18

18:                                               ; preds = %13, %104
  %19 = phi i64 [ 0, %13 ], [ %106, %104 ]
  %20 = phi i32 [ %10, %13 ], [ %105, %104 ]
  br i1 %6, label %44, label %21

21:                                               ; preds = %18
  %22 = getelementptr inbounds %struct.plan_code, ptr %5, i64 %19
  %23 = load i32, ptr %22, align 8
  %24 = zext i32 %23 to i64
  %25 = getelementptr inbounds i8, ptr @model_plan, i64 %24
  %26 = load i8, ptr %0, align 1
  %27 = icmp eq i8 %26, 0
  br i1 %27, label %39, label %28

28:                                               ; preds = %21, %34
  %29 = phi i8 [ %37, %34 ], [ %26, %21 ]
  %30 = phi ptr [ %36, %34 ], [ %25, %21 ]
  %31 = phi ptr [ %35, %34 ], [ %0, %21 ]
  %32 = load i8, ptr %30, align 1
  %33 = icmp eq i8 %29, %32
  br i1 %33, label %34, label %39

34:                                               ; preds = %28
  %35 = getelementptr inbounds i8, ptr %31, i64 1
  %36 = getelementptr inbounds i8, ptr %30, i64 1
  %37 = load i8, ptr %35, align 1
  %38 = icmp eq i8 %37, 0
  br i1 %38, label %39, label %28, !llvm.loop !2

39:                                               ; preds = %28, %34, %21
  %40 = phi ptr [ %25, %21 ], [ %30, %28 ], [ %36, %34 ]
  %41 = phi i8 [ 0, %21 ], [ %29, %28 ], [ 0, %34 ]
  %42 = load i8, ptr %40, align 1
  %43 = icmp eq i8 %41, %42
  br i1 %43, label %44, label %104

44:                                               ; preds = %39, %18
  %45 = getelementptr inbounds %struct.plan_code, ptr %5, i64 %19, i32 1
  %46 = load i32, ptr %45, align 4
  %47 = zext i32 %46 to i64
  %48 = getelementptr inbounds i8, ptr @model_plan, i64 %47
  %49 = load i32, ptr %48, align 4
  %50 = zext i32 %49 to i64
  %51 = getelementptr inbounds i32, ptr %48, i64 %50
  %52 = getelementptr inbounds i32, ptr %48, i64 1
  %53 = load i32, ptr %52, align 4
  %54 = icmp eq i32 %53, 0
  br i1 %54, label %67, label %55

55:                                               ; preds = %44
  %56 = tail call { i32, i32, i32, i32 } asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}"(i32 1, i32 0) #18, !srcloc !4
  %57 = extractvalue { i32, i32, i32, i32 } %56, 2
  %58 = and i32 %57, 134217728
  %59 = icmp eq i32 %58, 0
  br i1 %59, label %63, label %60

60:                                               ; preds = %55
  %61 = tail call { i32, i32 } asm sideeffect "xgetbv", "={ax},={dx},{cx},~{dirflag},~{fpsr},~{flags}"(i32 0) #18, !srcloc !5
  %62 = extractvalue { i32, i32 } %61, 0
  br label %63

63:                                               ; preds = %60, %55
  %64 = phi i32 [ %62, %60 ], [ 0, %55 ]
  %65 = and i32 %64, %53
  %66 = icmp eq i32 %65, %53
  br i1 %66, label %67, label %104

67:                                               ; preds = %63, %44
  %68 = icmp ult i32 %49, 3
  br i1 %68, label %101, label %69

69:                                               ; preds = %67
  %70 = getelementptr inbounds i32, ptr %48, i64 2
  br label %71

71:                                               ; preds = %91, %69
  %72 = phi ptr [ %70, %69 ], [ %97, %91 ]
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %2) #18
  %73 = load i32, ptr %72, align 4
  %74 = and i32 %73, -2147483648
  %75 = tail call { i32, i32, i32, i32 } asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}"(i32 %74, i32 0) #18, !srcloc !4
  %76 = extractvalue { i32, i32, i32, i32 } %75, 0
  %77 = icmp ult i32 %76, %73
  br i1 %77, label %91, label %78

78:                                               ; preds = %71
  %79 = getelementptr inbounds i32, ptr %72, i64 1
  %80 = load i32, ptr %79, align 4
  %81 = tail call { i32, i32, i32, i32 } asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}"(i32 %73, i32 %80) #18, !srcloc !4
  %82 = extractvalue { i32, i32, i32, i32 } %81, 0
  %83 = extractvalue { i32, i32, i32, i32 } %81, 1
  %84 = extractvalue { i32, i32, i32, i32 } %81, 2
  %85 = extractvalue { i32, i32, i32, i32 } %81, 3
  store i32 %82, ptr %2, align 16
  store i32 %83, ptr %16, align 4
  store i32 %84, ptr %15, align 8
  store i32 %85, ptr %14, align 4
  %86 = getelementptr inbounds i32, ptr %72, i64 2
  %87 = load i32, ptr %86, align 4
  %88 = zext i32 %87 to i64
  %89 = getelementptr inbounds [4 x i32], ptr %2, i64 0, i64 %88
  %90 = load i32, ptr %89, align 4
  br label %91

91:                                               ; preds = %78, %71
  %92 = phi i32 [ %90, %78 ], [ 0, %71 ]
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %2) #18
  %93 = getelementptr inbounds i32, ptr %72, i64 3
  %94 = load i32, ptr %93, align 4
  %95 = and i32 %94, %92
  %96 = icmp eq i32 %95, %94
  %97 = getelementptr inbounds i32, ptr %72, i64 4
  %98 = icmp ult ptr %97, %51
  %99 = select i1 %96, i1 %98, i1 false
  br i1 %99, label %71, label %100, !llvm.loop !6

100:                                              ; preds = %91
  br i1 %96, label %101, label %104

101:                                              ; preds = %67, %100
  %102 = trunc i64 %19 to i32
  %103 = add i32 %102, 1
  store atomic i32 %103, ptr @chosen release, align 4
  br label %108

104:                                              ; preds = %63, %100, %39
  %105 = phi i32 [ %20, %39 ], [ -7, %100 ], [ -7, %63 ]
  %106 = add nuw nsw i64 %19, 1
  %107 = icmp eq i64 %106, %17
  br i1 %107, label %108, label %18, !llvm.loop !7

108:                                              ; preds = %104, %9, %101, %1
  %109 = phi i32 [ -7, %1 ], [ 0, %101 ], [ %10, %9 ], [ %105, %104 ]
  ret i32 %109
}

; Function Attrs: nounwind
define i32 @model_select_code(ptr noundef %0) local_unnamed_addr #0 {
  %2 = icmp eq ptr %0, null
  br i1 %2, label %5, label %3

3:                                                ; preds = %1
  %4 = tail call fastcc i32 @choose_code(ptr noundef nonnull %0) #17
  br label %5

5:                                                ; preds = %1, %3
  %6 = phi i32 [ %4, %3 ], [ -1, %1 ]
  ret i32 %6
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define i64 @model_pool_bytes(i32 noundef %0) local_unnamed_addr #1 {
  %2 = add i32 %0, -257
  %3 = icmp ult i32 %2, -256
  %4 = zext i32 %0 to i64
  %5 = shl nuw nsw i64 %4, 3
  %6 = add nuw nsw i64 %5, 103
  %7 = and i64 %6, 65472
  %8 = select i1 %3, i64 -9, i64 %7
  ret i64 %8
}

; Function Attrs: nounwind
define i32 @model_pool_start(ptr %0, i64 %1, i32 noundef %2, ptr noundef writeonly %3) local_unnamed_addr #0 {
  %5 = alloca i64, align 8
  %6 = alloca i64, align 8
  %7 = add i32 %2, -257
  %8 = icmp ult i32 %7, -256
  %9 = zext i32 %2 to i64
  %10 = shl nuw nsw i64 %9, 3
  %11 = add nuw nsw i64 %10, 103
  %12 = and i64 %11, 65472
  %13 = select i1 %8, i64 -9, i64 %12
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %5) #18
  store i64 -15032385537, ptr %5, align 8
  call void @llvm.lifetime.start.p0(i64 8, ptr nonnull %6) #18
  %14 = icmp ne ptr %0, null
  %15 = icmp ne ptr %3, null
  %16 = and i1 %14, %15
  br i1 %16, label %17, label %85

17:                                               ; preds = %4
  br i1 %8, label %18, label %20

18:                                               ; preds = %17
  %19 = trunc i64 %13 to i32
  br label %85

20:                                               ; preds = %17
  %21 = ptrtoint ptr %0 to i64
  %22 = and i64 %21, 63
  %23 = icmp eq i64 %22, 0
  br i1 %23, label %24, label %85

24:                                               ; preds = %20
  %25 = icmp ugt i64 %13, %1
  br i1 %25, label %85, label %26

26:                                               ; preds = %24
  %27 = icmp ugt i32 %2, 1
  br i1 %27, label %28, label %35

28:                                               ; preds = %26
  %29 = tail call { ptr, ptr } asm "", "=r,=r,0,1,~{dirflag},~{fpsr},~{flags}"(ptr @pthread_create, ptr @pthread_join) #19, !srcloc !8
  %30 = extractvalue { ptr, ptr } %29, 0
  %31 = extractvalue { ptr, ptr } %29, 1
  %32 = icmp eq ptr %30, null
  %33 = icmp eq ptr %31, null
  %34 = select i1 %32, i1 true, i1 %33
  br i1 %34, label %85, label %35

35:                                               ; preds = %28, %26
  %36 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 0, i64 0, i64 0, i64 0, i64 39) #18, !srcloc !9
  %37 = trunc i64 %36 to i32
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(28) %0, i8 0, i64 28, i1 false)
  %38 = getelementptr inbounds i8, ptr %0, i64 28
  store i32 %37, ptr %38, align 4
  %39 = getelementptr inbounds i8, ptr %0, i64 32
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %39, i8 0, i64 16, i1 false)
  %40 = ptrtoint ptr %5 to i64
  %41 = ptrtoint ptr %6 to i64
  %42 = call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 2, i64 %40, i64 %41, i64 8, i64 14) #18, !srcloc !9
  %43 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 5
  %44 = add nsw i32 %2, -1
  %45 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 9
  %46 = load i32, ptr %43, align 8
  %47 = icmp ult i32 %46, %44
  br i1 %47, label %48, label %81

48:                                               ; preds = %35, %54
  %49 = phi i32 [ %56, %54 ], [ %46, %35 ]
  %50 = zext i32 %49 to i64
  %51 = getelementptr inbounds i64, ptr %45, i64 %50
  %52 = call i32 @pthread_create(ptr noundef nonnull %51, ptr noundef null, ptr noundef nonnull @serve, ptr noundef nonnull %0) #20
  %53 = icmp eq i32 %52, 0
  br i1 %53, label %54, label %58

54:                                               ; preds = %48
  %55 = load i32, ptr %43, align 8
  %56 = add i32 %55, 1
  store i32 %56, ptr %43, align 8
  %57 = icmp ult i32 %56, %44
  br i1 %57, label %48, label %81

58:                                               ; preds = %48
  %59 = call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 2, i64 %41, i64 0, i64 8, i64 14) #18, !srcloc !9
  %60 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 4
  store atomic i32 1, ptr %60 release, align 4
  %61 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 1
  %62 = atomicrmw add ptr %61, i32 1 release, align 4
  %63 = ptrtoint ptr %61 to i64
  %64 = call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 %63, i64 129, i64 256, i64 0, i64 202) #18, !srcloc !9
  %65 = load i32, ptr %38, align 4
  %66 = call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 0, i64 0, i64 0, i64 0, i64 39) #18, !srcloc !9
  %67 = trunc i64 %66 to i32
  %68 = icmp eq i32 %65, %67
  br i1 %68, label %69, label %85

69:                                               ; preds = %58
  %70 = load i32, ptr %43, align 8
  %71 = icmp eq i32 %70, 0
  br i1 %71, label %85, label %72

72:                                               ; preds = %69, %72
  %73 = phi i64 [ %77, %72 ], [ 0, %69 ]
  %74 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 9, i64 %73
  %75 = load i64, ptr %74, align 8
  %76 = call i32 @pthread_join(i64 noundef %75, ptr noundef null) #20
  %77 = add nuw nsw i64 %73, 1
  %78 = load i32, ptr %43, align 8
  %79 = zext i32 %78 to i64
  %80 = icmp ult i64 %77, %79
  br i1 %80, label %72, label %85, !llvm.loop !10

81:                                               ; preds = %54, %35
  %82 = call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 2, i64 %41, i64 0, i64 8, i64 14) #18, !srcloc !9
  store i32 %2, ptr %3, align 8
  %83 = getelementptr inbounds i8, ptr %3, i64 8
  store ptr @launch_in_pool, ptr %83, align 8
  %84 = getelementptr inbounds i8, ptr %3, i64 16
  store ptr %0, ptr %84, align 8
  br label %85

85:                                               ; preds = %72, %69, %58, %28, %24, %20, %4, %81, %18
  %86 = phi i32 [ %19, %18 ], [ 0, %81 ], [ -1, %4 ], [ -3, %20 ], [ -4, %24 ], [ -12, %28 ], [ -12, %58 ], [ -12, %69 ], [ -12, %72 ]
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %6) #18
  call void @llvm.lifetime.end.p0(i64 8, ptr nonnull %5) #18
  ret i32 %86
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #2

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr nocapture writeonly, i8, i64, i1 immarg) #3

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias nocapture writeonly, ptr noalias nocapture readonly, i64, i1 immarg) #4

declare extern_weak i32 @pthread_create(ptr noundef, ptr noundef, ptr noundef, ptr noundef) #5

; Function Attrs: nounwind
define internal ptr @serve(ptr noundef %0) #0 {
  %2 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 4
  %3 = load atomic i32, ptr %2 acquire, align 4
  %4 = icmp eq i32 %3, 0
  br i1 %4, label %5, label %63

5:                                                ; preds = %1
  %6 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 1
  %7 = ptrtoint ptr %6 to i64
  %8 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 7
  %9 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 8
  %10 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 2
  %11 = ptrtoint ptr %10 to i64
  br label %12

12:                                               ; preds = %5, %60
  %13 = phi i32 [ 0, %5 ], [ %31, %60 ]
  br label %19

14:                                               ; preds = %23
  %15 = load atomic i32, ptr %6 acquire, align 4
  %16 = icmp eq i32 %15, %13
  br i1 %16, label %17, label %30

17:                                               ; preds = %14
  %18 = zext i32 %13 to i64
  br label %26

19:                                               ; preds = %23, %12
  %20 = phi i32 [ 0, %12 ], [ %24, %23 ]
  %21 = load atomic i32, ptr %6 acquire, align 4
  %22 = icmp eq i32 %21, %13
  br i1 %22, label %23, label %30

23:                                               ; preds = %19
  tail call void asm sideeffect "pause", "~{dirflag},~{fpsr},~{flags}"() #18, !srcloc !11
  %24 = add nuw nsw i32 %20, 1
  %25 = icmp eq i32 %24, 1000
  br i1 %25, label %14, label %19, !llvm.loop !12

26:                                               ; preds = %26, %17
  %27 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 %7, i64 128, i64 %18, i64 0, i64 202) #18, !srcloc !9
  %28 = load atomic i32, ptr %6 acquire, align 4
  %29 = icmp eq i32 %28, %13
  br i1 %29, label %26, label %30, !llvm.loop !13

30:                                               ; preds = %19, %26, %14
  %31 = phi i32 [ %15, %14 ], [ %28, %26 ], [ %21, %19 ]
  %32 = load atomic i64, ptr %0 acquire, align 8
  %33 = and i64 %32, 65535
  %34 = lshr i64 %32, 16
  %35 = and i64 %34, 65535
  %36 = icmp ult i64 %33, %35
  br i1 %36, label %37, label %60

37:                                               ; preds = %30, %54
  %38 = phi i64 [ %55, %54 ], [ %32, %30 ]
  %39 = add i64 %38, 1
  %40 = cmpxchg ptr %0, i64 %38, i64 %39 acq_rel acquire, align 8
  %41 = extractvalue { i64, i1 } %40, 1
  %42 = extractvalue { i64, i1 } %40, 0
  br i1 %41, label %43, label %54

43:                                               ; preds = %37
  %44 = load ptr, ptr %8, align 8
  %45 = load ptr, ptr %9, align 8
  %46 = trunc i64 %38 to i32
  %47 = and i32 %46, 65535
  tail call void %44(ptr noundef %45, i32 noundef %47) #20
  %48 = atomicrmw sub ptr %10, i32 1 acq_rel, align 4
  %49 = icmp eq i32 %48, 1
  br i1 %49, label %50, label %52

50:                                               ; preds = %43
  %51 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 %11, i64 129, i64 1, i64 0, i64 202) #18, !srcloc !9
  br label %52

52:                                               ; preds = %50, %43
  %53 = load atomic i64, ptr %0 acquire, align 8
  br label %54

54:                                               ; preds = %52, %37
  %55 = phi i64 [ %53, %52 ], [ %42, %37 ]
  %56 = and i64 %55, 65535
  %57 = lshr i64 %55, 16
  %58 = and i64 %57, 65535
  %59 = icmp ult i64 %56, %58
  br i1 %59, label %37, label %60, !llvm.loop !14

60:                                               ; preds = %54, %30
  %61 = load atomic i32, ptr %2 acquire, align 4
  %62 = icmp eq i32 %61, 0
  br i1 %62, label %12, label %63, !llvm.loop !15

63:                                               ; preds = %60, %1
  ret ptr null
}

; Function Attrs: nounwind
define internal void @launch_in_pool(ptr noundef %0, ptr noundef %1, ptr noundef %2, i32 noundef %3) #0 {
  %5 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 3
  %6 = atomicrmw xchg ptr %5, i32 1 acquire, align 4
  %7 = icmp eq i32 %6, 0
  br i1 %7, label %14, label %8

8:                                                ; preds = %4
  %9 = icmp eq i32 %3, 0
  br i1 %9, label %87, label %10

10:                                               ; preds = %8, %10
  %11 = phi i32 [ %12, %10 ], [ 0, %8 ]
  tail call void %1(ptr noundef %2, i32 noundef %11) #20
  %12 = add nuw i32 %11, 1
  %13 = icmp eq i32 %12, %3
  br i1 %13, label %87, label %10, !llvm.loop !16

14:                                               ; preds = %4
  %15 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 7
  store ptr %1, ptr %15, align 8
  %16 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 8
  store ptr %2, ptr %16, align 8
  %17 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 2
  store atomic i32 %3, ptr %17 monotonic, align 4
  %18 = getelementptr inbounds %struct.pool, ptr %0, i64 0, i32 1
  %19 = load i32, ptr %18, align 8
  %20 = add i32 %19, 1
  %21 = zext i32 %20 to i64
  %22 = shl nuw i64 %21, 32
  %23 = zext i32 %3 to i64
  %24 = shl nuw nsw i64 %23, 16
  %25 = or i64 %22, %24
  store atomic i64 %25, ptr %0 release, align 8
  store atomic i32 %20, ptr %18 release, align 8
  %26 = add i32 %3, -1
  %27 = ptrtoint ptr %18 to i64
  %28 = zext i32 %26 to i64
  %29 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 %27, i64 129, i64 %28, i64 0, i64 202) #18, !srcloc !9
  %30 = load atomic i64, ptr %0 acquire, align 8
  %31 = and i64 %30, 65535
  %32 = lshr i64 %30, 16
  %33 = and i64 %32, 65535
  %34 = icmp ult i64 %31, %33
  br i1 %34, label %35, label %60

35:                                               ; preds = %14
  %36 = ptrtoint ptr %17 to i64
  br label %37

37:                                               ; preds = %54, %35
  %38 = phi i64 [ %30, %35 ], [ %55, %54 ]
  %39 = add i64 %38, 1
  %40 = cmpxchg ptr %0, i64 %38, i64 %39 acq_rel acquire, align 8
  %41 = extractvalue { i64, i1 } %40, 1
  %42 = extractvalue { i64, i1 } %40, 0
  br i1 %41, label %43, label %54

43:                                               ; preds = %37
  %44 = load ptr, ptr %15, align 8
  %45 = load ptr, ptr %16, align 8
  %46 = trunc i64 %38 to i32
  %47 = and i32 %46, 65535
  tail call void %44(ptr noundef %45, i32 noundef %47) #20
  %48 = atomicrmw sub ptr %17, i32 1 acq_rel, align 4
  %49 = icmp eq i32 %48, 1
  br i1 %49, label %50, label %52

50:                                               ; preds = %43
  %51 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 %36, i64 129, i64 1, i64 0, i64 202) #18, !srcloc !9
  br label %52

52:                                               ; preds = %50, %43
  %53 = load atomic i64, ptr %0 acquire, align 8
  br label %54

54:                                               ; preds = %52, %37
  %55 = phi i64 [ %53, %52 ], [ %42, %37 ]
  %56 = and i64 %55, 65535
  %57 = lshr i64 %55, 16
  %58 = and i64 %57, 65535
  %59 = icmp ult i64 %56, %58
  br i1 %59, label %37, label %60, !llvm.loop !14

60:                                               ; preds = %54, %14
  %61 = load atomic i32, ptr %17 acquire, align 4
  %62 = icmp eq i32 %61, 0
  br i1 %62, label %86, label %63

63:                                               ; preds = %60
  %64 = ptrtoint ptr %17 to i64
  br label %65

65:                                               ; preds = %63, %83
  %66 = phi i32 [ %61, %63 ], [ %84, %83 ]
  br label %72

67:                                               ; preds = %76
  %68 = load atomic i32, ptr %17 acquire, align 4
  %69 = icmp eq i32 %68, %66
  br i1 %69, label %70, label %83

70:                                               ; preds = %67
  %71 = zext i32 %66 to i64
  br label %79

72:                                               ; preds = %65, %76
  %73 = phi i32 [ %77, %76 ], [ 0, %65 ]
  %74 = load atomic i32, ptr %17 acquire, align 4
  %75 = icmp eq i32 %74, %66
  br i1 %75, label %76, label %83

76:                                               ; preds = %72
  tail call void asm sideeffect "pause", "~{dirflag},~{fpsr},~{flags}"() #18, !srcloc !11
  %77 = add nuw nsw i32 %73, 1
  %78 = icmp eq i32 %77, 1000
  br i1 %78, label %67, label %72, !llvm.loop !12

79:                                               ; preds = %79, %70
  %80 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 %64, i64 128, i64 %71, i64 0, i64 202) #18, !srcloc !9
  %81 = load atomic i32, ptr %17 acquire, align 4
  %82 = icmp eq i32 %81, %66
  br i1 %82, label %79, label %83, !llvm.loop !13

83:                                               ; preds = %72, %79, %67
  %84 = phi i32 [ %68, %67 ], [ %81, %79 ], [ %74, %72 ]
  %85 = icmp eq i32 %84, 0
  br i1 %85, label %86, label %65, !llvm.loop !17

86:                                               ; preds = %83, %60
  store atomic i32 0, ptr %5 release, align 8
  br label %87

87:                                               ; preds = %10, %8, %86
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #2

; Function Attrs: nounwind
define i32 @model_pool_stop(ptr noundef %0) local_unnamed_addr #0 {
  %2 = icmp eq ptr %0, null
  br i1 %2, label %37, label %3

3:                                                ; preds = %1
  %4 = getelementptr inbounds %struct.model_threads, ptr %0, i64 0, i32 2
  %5 = load ptr, ptr %4, align 8
  %6 = icmp eq ptr %5, null
  br i1 %6, label %37, label %7

7:                                                ; preds = %3
  %8 = getelementptr inbounds %struct.model_threads, ptr %0, i64 0, i32 1
  %9 = load ptr, ptr %8, align 8
  %10 = icmp eq ptr %9, @launch_in_pool
  br i1 %10, label %11, label %37

11:                                               ; preds = %7
  %12 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 4
  store atomic i32 1, ptr %12 release, align 4
  %13 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 1
  %14 = atomicrmw add ptr %13, i32 1 release, align 4
  %15 = ptrtoint ptr %13 to i64
  %16 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 %15, i64 129, i64 256, i64 0, i64 202) #18, !srcloc !9
  %17 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 6
  %18 = load i32, ptr %17, align 4
  %19 = tail call i64 asm sideeffect "syscall", "={ax},{di},{si},{dx},{r10},0,~{rcx},~{r11},~{memory},~{dirflag},~{fpsr},~{flags}"(i64 0, i64 0, i64 0, i64 0, i64 39) #18, !srcloc !9
  %20 = trunc i64 %19 to i32
  %21 = icmp eq i32 %18, %20
  br i1 %21, label %22, label %35

22:                                               ; preds = %11
  %23 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 5
  %24 = load i32, ptr %23, align 8
  %25 = icmp eq i32 %24, 0
  br i1 %25, label %35, label %26

26:                                               ; preds = %22, %26
  %27 = phi i64 [ %31, %26 ], [ 0, %22 ]
  %28 = getelementptr inbounds %struct.pool, ptr %5, i64 0, i32 9, i64 %27
  %29 = load i64, ptr %28, align 8
  %30 = tail call i32 @pthread_join(i64 noundef %29, ptr noundef null) #20
  %31 = add nuw nsw i64 %27, 1
  %32 = load i32, ptr %23, align 8
  %33 = zext i32 %32 to i64
  %34 = icmp ult i64 %31, %33
  br i1 %34, label %26, label %35, !llvm.loop !10

35:                                               ; preds = %26, %11, %22
  store i32 1, ptr %0, align 8
  %36 = getelementptr inbounds i8, ptr %0, i64 4
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(20) %36, i8 0, i64 20, i1 false)
  br label %37

37:                                               ; preds = %7, %1, %3, %35
  %38 = phi i32 [ 0, %35 ], [ -1, %3 ], [ -1, %1 ], [ -9, %7 ]
  ret i32 %38
}

; Function Attrs: mustprogress nofree nosync nounwind willreturn memory(readwrite, inaccessiblemem: none)
define internal ptr @allocate(i32 %0, i32 %1, i64 noundef %2, i32 %3, i32 %4) #6 {
  %6 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %7 = load ptr, ptr %6, align 8
  %8 = icmp eq ptr %7, null
  br i1 %8, label %33, label %9

9:                                                ; preds = %5
  %10 = getelementptr inbounds %struct.context, ptr %7, i64 0, i32 1
  %11 = load ptr, ptr %10, align 8
  %12 = load ptr, ptr %7, align 8
  %13 = ptrtoint ptr %11 to i64
  %14 = ptrtoint ptr %12 to i64
  %15 = sub i64 %13, %14
  %16 = icmp ult i64 %15, %2
  %17 = sub nsw i64 %15, %2
  %18 = icmp slt i64 %17, 128
  %19 = select i1 %16, i1 true, i1 %18
  br i1 %19, label %33, label %20

20:                                               ; preds = %9
  %21 = getelementptr inbounds i8, ptr %12, i64 64
  %22 = getelementptr inbounds i8, ptr %12, i64 48
  store ptr %21, ptr %22, align 8
  %23 = load ptr, ptr %7, align 8
  %24 = getelementptr inbounds i8, ptr %12, i64 56
  store ptr %23, ptr %24, align 8
  %25 = icmp sgt i64 %2, 9223372036854775743
  br i1 %25, label %30, label %26

26:                                               ; preds = %20
  %27 = add nsw i64 %2, 63
  %28 = sdiv i64 %27, 64
  %29 = shl nsw i64 %28, 6
  br label %30

30:                                               ; preds = %20, %26
  %31 = phi i64 [ %29, %26 ], [ 9223372036854775807, %20 ]
  %32 = getelementptr inbounds i8, ptr %21, i64 %31
  store ptr %32, ptr %7, align 8
  br label %33

33:                                               ; preds = %5, %9, %30
  %34 = phi ptr [ %21, %30 ], [ null, %9 ], [ null, %5 ]
  ret ptr %34
}

; Function Attrs: mustprogress nofree nosync nounwind willreturn memory(readwrite, inaccessiblemem: none)
define internal i32 @release(i32 %0, i32 %1, ptr noundef readonly %2) #6 {
  %4 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %5 = load ptr, ptr %4, align 8
  %6 = icmp ne ptr %5, null
  %7 = icmp ne ptr %2, null
  %8 = and i1 %7, %6
  br i1 %8, label %9, label %12

9:                                                ; preds = %3
  %10 = getelementptr %struct.block, ptr %2, i64 -1, i32 1
  %11 = load ptr, ptr %10, align 8
  store ptr %11, ptr %5, align 8
  br label %12

12:                                               ; preds = %9, %3
  ret i32 0
}

; Function Attrs: nounwind
define internal i32 @launch(ptr noundef %0, ptr noundef %1, i32 noundef %2) #0 {
  %4 = alloca %struct.loop, align 8
  %5 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %6 = load ptr, ptr %5, align 8
  %7 = icmp eq ptr %6, null
  br i1 %7, label %18, label %8

8:                                                ; preds = %3
  %9 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 2
  %10 = load ptr, ptr %9, align 8
  %11 = icmp eq ptr %10, null
  br i1 %11, label %18, label %12

12:                                               ; preds = %8
  %13 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 5
  %14 = load ptr, ptr %13, align 8
  %15 = icmp eq ptr %14, null
  br i1 %15, label %18, label %16

16:                                               ; preds = %12
  %17 = load i32, ptr %14, align 8
  br label %18

18:                                               ; preds = %3, %8, %12, %16
  %19 = phi i32 [ %17, %16 ], [ 1, %12 ], [ 1, %8 ], [ 1, %3 ]
  call void @llvm.lifetime.start.p0(i64 48, ptr nonnull %4) #18
  store ptr %6, ptr %4, align 8
  %20 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 1
  store ptr %0, ptr %20, align 8
  %21 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 2
  store ptr %1, ptr %21, align 8
  %22 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 3
  store ptr null, ptr %22, align 8
  %23 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 3, i32 1
  %24 = getelementptr inbounds %struct.loop, ptr %4, i64 0, i32 4
  store i32 0, ptr %24, align 8
  %25 = icmp sgt i32 %2, 0
  %26 = icmp ugt i32 %19, %2
  %27 = select i1 %25, i1 %26, i1 false
  %28 = select i1 %27, i32 %2, i32 %19
  store i32 %28, ptr %23, align 8
  br i1 %7, label %64, label %29

29:                                               ; preds = %18
  %30 = icmp eq i32 %28, 1
  br i1 %30, label %31, label %53

31:                                               ; preds = %29
  %32 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 2
  %33 = load ptr, ptr %32, align 8
  %34 = icmp eq ptr %33, null
  br i1 %34, label %35, label %37

35:                                               ; preds = %31
  %36 = call i32 %0(i32 noundef 0, ptr noundef nonnull %22, ptr noundef %1) #20
  br label %64

37:                                               ; preds = %31
  %38 = load ptr, ptr %5, align 8
  %39 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 3
  %40 = load ptr, ptr %39, align 8
  store ptr %33, ptr %40, align 8
  %41 = load ptr, ptr %4, align 8
  %42 = getelementptr inbounds %struct.context, ptr %41, i64 0, i32 4
  %43 = load i64, ptr %42, align 8
  %44 = getelementptr inbounds i8, ptr %33, i64 %43
  %45 = getelementptr inbounds %struct.context, ptr %40, i64 0, i32 1
  store ptr %44, ptr %45, align 8
  %46 = getelementptr inbounds %struct.context, ptr %40, i64 0, i32 2
  store ptr null, ptr %46, align 8
  store ptr %40, ptr %5, align 8
  %47 = load ptr, ptr %20, align 8
  %48 = load ptr, ptr %21, align 8
  %49 = call i32 %47(i32 noundef 0, ptr noundef nonnull %22, ptr noundef %48) #20
  %50 = icmp eq i32 %49, 0
  br i1 %50, label %52, label %51

51:                                               ; preds = %37
  store atomic i32 1, ptr %24 monotonic, align 8
  br label %52

52:                                               ; preds = %37, %51
  store ptr %38, ptr %5, align 8
  br label %60

53:                                               ; preds = %29
  %54 = getelementptr inbounds %struct.context, ptr %6, i64 0, i32 5
  %55 = load ptr, ptr %54, align 8
  %56 = getelementptr inbounds %struct.model_threads, ptr %55, i64 0, i32 1
  %57 = load ptr, ptr %56, align 8
  %58 = getelementptr inbounds %struct.model_threads, ptr %55, i64 0, i32 2
  %59 = load ptr, ptr %58, align 8
  call void %57(ptr noundef %59, ptr noundef nonnull @run_task, ptr noundef nonnull %4, i32 noundef %28) #20
  br label %60

60:                                               ; preds = %53, %52
  %61 = load i32, ptr %24, align 8
  %62 = icmp ne i32 %61, 0
  %63 = sext i1 %62 to i32
  br label %64

64:                                               ; preds = %18, %60, %35
  %65 = phi i32 [ %63, %60 ], [ %36, %35 ], [ -1, %18 ]
  call void @llvm.lifetime.end.p0(i64 48, ptr nonnull %4) #18
  ret i32 %65
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define internal void @set_error(ptr nocapture %0, ptr nocapture %1) #1 {
  ret void
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define internal void @set_error_parts(ptr nocapture %0, ptr nocapture %1, i32 %2) #1 {
  ret void
}

; Function Attrs: mustprogress nofree norecurse nounwind willreturn memory(readwrite, inaccessiblemem: none)
define i32 @model_describe(ptr noundef writeonly %0) local_unnamed_addr #7 {
  %2 = load atomic i32, ptr @chosen acquire, align 4
  %3 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %4 = zext i32 %3 to i64
  %5 = getelementptr inbounds i8, ptr @model_plan, i64 %4
  %6 = add i32 %2, -1
  %7 = zext i32 %6 to i64
  %8 = getelementptr inbounds %struct.plan_code, ptr %5, i64 %7
  %9 = icmp eq ptr %0, null
  br i1 %9, label %39, label %10

10:                                               ; preds = %1
  %11 = icmp eq i32 %2, 0
  %12 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 8), align 4
  %13 = zext i32 %12 to i64
  %14 = getelementptr inbounds i8, ptr @model_plan, i64 %13
  store ptr %14, ptr %0, align 8
  %15 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 9), align 4
  %16 = zext i32 %15 to i64
  %17 = getelementptr inbounds i8, ptr @model_plan, i64 %16
  %18 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 1
  store ptr %17, ptr %18, align 8
  %19 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 10), align 4
  %20 = zext i32 %19 to i64
  %21 = getelementptr inbounds i8, ptr @model_plan, i64 %20
  %22 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 2
  store ptr %21, ptr %22, align 8
  br i1 %11, label %27, label %23

23:                                               ; preds = %10
  %24 = load i32, ptr %8, align 8
  %25 = zext i32 %24 to i64
  %26 = getelementptr inbounds i8, ptr @model_plan, i64 %25
  br label %27

27:                                               ; preds = %10, %23
  %28 = phi ptr [ %26, %23 ], [ null, %10 ]
  %29 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 3
  store ptr %28, ptr %29, align 8
  %30 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 11), align 4
  %31 = zext i32 %30 to i64
  %32 = getelementptr inbounds i8, ptr @model_plan, i64 %31
  %33 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 4
  store ptr %32, ptr %33, align 8
  %34 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 5
  store i32 2, ptr %34, align 8
  %35 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %36 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 6
  store i32 %35, ptr %36, align 4
  %37 = getelementptr inbounds %struct.model_description, ptr %0, i64 0, i32 7
  %38 = load <2 x i32>, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  store <2 x i32> %38, ptr %37, align 8
  br label %39

39:                                               ; preds = %1, %27
  %40 = phi i32 [ 0, %27 ], [ -1, %1 ]
  ret i32 %40
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(none)
define nonnull ptr @model_status_text(i32 noundef %0) local_unnamed_addr #1 {
  %2 = add i32 %0, 16
  %3 = icmp ult i32 %2, 17
  br i1 %3, label %4, label %8

4:                                                ; preds = %1
  %5 = sext i32 %2 to i64
  %6 = shl i64 %5, 2
  %7 = call ptr @llvm.load.relative.i64(ptr @reltable.model_status_text, i64 %6)
  br label %8

8:                                                ; preds = %1, %4
  %9 = phi ptr [ %7, %4 ], [ @.str.17, %1 ]
  ret ptr %9
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: write)
define i32 @model_dimension(i32 noundef %0, ptr noundef writeonly %1) local_unnamed_addr #8 {
  %3 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 12), align 4
  %4 = zext i32 %3 to i64
  %5 = getelementptr inbounds i8, ptr @model_plan, i64 %4
  %6 = zext i32 %0 to i64
  %7 = getelementptr inbounds %struct.plan_dimension, ptr %5, i64 %6
  %8 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 7), align 4
  %9 = icmp ugt i32 %8, %0
  br i1 %9, label %10, label %23

10:                                               ; preds = %2
  %11 = icmp eq ptr %1, null
  br i1 %11, label %23, label %12

12:                                               ; preds = %10
  %13 = load i32, ptr %7, align 8
  %14 = zext i32 %13 to i64
  %15 = getelementptr inbounds i8, ptr @model_plan, i64 %14
  %16 = getelementptr inbounds %struct.plan_dimension, ptr %5, i64 %6, i32 2
  %17 = getelementptr inbounds %struct.plan_dimension, ptr %5, i64 %6, i32 1
  %18 = load i32, ptr %17, align 4
  %19 = zext i32 %18 to i64
  store ptr %15, ptr %1, align 8
  %20 = getelementptr inbounds i8, ptr %1, i64 8
  %21 = load <2 x i64>, ptr %16, align 8
  store <2 x i64> %21, ptr %20, align 8
  %22 = getelementptr inbounds i8, ptr %1, i64 24
  store i64 %19, ptr %22, align 8
  br label %23

23:                                               ; preds = %10, %2, %12
  %24 = phi i32 [ 0, %12 ], [ -6, %2 ], [ -1, %10 ]
  ret i32 %24
}

; Function Attrs: nofree nosync nounwind memory(write, argmem: readwrite, inaccessiblemem: none)
define i32 @model_input(i32 noundef %0, ptr noundef %1, ptr noundef %2) local_unnamed_addr #9 {
  %4 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %5 = icmp ugt i32 %4, %0
  br i1 %5, label %6, label %13

6:                                                ; preds = %3
  %7 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %8 = zext i32 %7 to i64
  %9 = getelementptr inbounds i8, ptr @model_plan, i64 %8
  %10 = zext i32 %0 to i64
  %11 = getelementptr inbounds %struct.plan_tensor, ptr %9, i64 %10
  %12 = tail call fastcc i32 @describe_tensor(ptr noundef nonnull %11, ptr noundef %1, ptr noundef %2) #17
  br label %13

13:                                               ; preds = %3, %6
  %14 = phi i32 [ %12, %6 ], [ -6, %3 ]
  ret i32 %14
}

; Function Attrs: nofree nosync nounwind memory(write, argmem: readwrite, inaccessiblemem: none)
define internal fastcc i32 @describe_tensor(ptr nocapture noundef readonly %0, ptr noundef %1, ptr noundef writeonly %2) unnamed_addr #9 {
  %4 = alloca [2048 x i64], align 16
  call void @llvm.lifetime.start.p0(i64 16384, ptr nonnull %4) #18
  %5 = icmp ne ptr %1, null
  br i1 %5, label %6, label %11

6:                                                ; preds = %3
  %7 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 14), align 4
  %8 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 15), align 4
  %9 = call fastcc i32 @fill_numbers(ptr noundef nonnull %1, i32 noundef %7, i32 noundef %8, ptr noundef nonnull %4) #17
  %10 = icmp eq ptr %2, null
  br i1 %10, label %167, label %13

11:                                               ; preds = %3
  %12 = icmp eq ptr %2, null
  br i1 %12, label %167, label %15

13:                                               ; preds = %6
  %14 = icmp eq i32 %9, 0
  br i1 %14, label %15, label %167

15:                                               ; preds = %11, %13
  %16 = load i32, ptr %0, align 8
  %17 = zext i32 %16 to i64
  %18 = getelementptr inbounds i8, ptr @model_plan, i64 %17
  store ptr %18, ptr %2, align 8
  %19 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 1
  %20 = load i32, ptr %19, align 4
  %21 = zext i32 %20 to i64
  %22 = getelementptr inbounds i8, ptr @model_plan, i64 %21
  %23 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 1
  store ptr %22, ptr %23, align 8
  %24 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 2
  %25 = load i32, ptr %24, align 8
  %26 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 2
  store i32 %25, ptr %26, align 8
  %27 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 3
  %28 = load i32, ptr %27, align 4
  %29 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 3
  store i32 %28, ptr %29, align 4
  %30 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 0
  %31 = load i64, ptr %30, align 8
  br i1 %5, label %32, label %113

32:                                               ; preds = %15
  %33 = icmp slt i64 %31, 0
  br i1 %33, label %34, label %38

34:                                               ; preds = %32
  %35 = xor i64 %31, -1
  %36 = getelementptr inbounds i64, ptr %4, i64 %35
  %37 = load i64, ptr %36, align 8
  br label %38

38:                                               ; preds = %34, %32
  %39 = phi i64 [ %31, %32 ], [ %37, %34 ]
  %40 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 0
  store i64 %39, ptr %40, align 8
  %41 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 1
  %42 = load i64, ptr %41, align 8
  %43 = icmp slt i64 %42, 0
  br i1 %43, label %44, label %48

44:                                               ; preds = %38
  %45 = xor i64 %42, -1
  %46 = getelementptr inbounds i64, ptr %4, i64 %45
  %47 = load i64, ptr %46, align 8
  br label %48

48:                                               ; preds = %44, %38
  %49 = phi i64 [ %42, %38 ], [ %47, %44 ]
  %50 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 1
  store i64 %49, ptr %50, align 8
  %51 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 2
  %52 = load i64, ptr %51, align 8
  %53 = icmp slt i64 %52, 0
  br i1 %53, label %54, label %58

54:                                               ; preds = %48
  %55 = xor i64 %52, -1
  %56 = getelementptr inbounds i64, ptr %4, i64 %55
  %57 = load i64, ptr %56, align 8
  br label %58

58:                                               ; preds = %54, %48
  %59 = phi i64 [ %52, %48 ], [ %57, %54 ]
  %60 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 2
  store i64 %59, ptr %60, align 8
  %61 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 3
  %62 = load i64, ptr %61, align 8
  %63 = icmp slt i64 %62, 0
  br i1 %63, label %64, label %68

64:                                               ; preds = %58
  %65 = xor i64 %62, -1
  %66 = getelementptr inbounds i64, ptr %4, i64 %65
  %67 = load i64, ptr %66, align 8
  br label %68

68:                                               ; preds = %64, %58
  %69 = phi i64 [ %62, %58 ], [ %67, %64 ]
  %70 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 3
  store i64 %69, ptr %70, align 8
  %71 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 4
  %72 = load i64, ptr %71, align 8
  %73 = icmp slt i64 %72, 0
  br i1 %73, label %74, label %78

74:                                               ; preds = %68
  %75 = xor i64 %72, -1
  %76 = getelementptr inbounds i64, ptr %4, i64 %75
  %77 = load i64, ptr %76, align 8
  br label %78

78:                                               ; preds = %74, %68
  %79 = phi i64 [ %72, %68 ], [ %77, %74 ]
  %80 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 4
  store i64 %79, ptr %80, align 8
  %81 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 5
  %82 = load i64, ptr %81, align 8
  %83 = icmp slt i64 %82, 0
  br i1 %83, label %84, label %88

84:                                               ; preds = %78
  %85 = xor i64 %82, -1
  %86 = getelementptr inbounds i64, ptr %4, i64 %85
  %87 = load i64, ptr %86, align 8
  br label %88

88:                                               ; preds = %84, %78
  %89 = phi i64 [ %82, %78 ], [ %87, %84 ]
  %90 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 5
  store i64 %89, ptr %90, align 8
  %91 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 6
  %92 = load i64, ptr %91, align 8
  %93 = icmp slt i64 %92, 0
  br i1 %93, label %94, label %98

94:                                               ; preds = %88
  %95 = xor i64 %92, -1
  %96 = getelementptr inbounds i64, ptr %4, i64 %95
  %97 = load i64, ptr %96, align 8
  br label %98

98:                                               ; preds = %94, %88
  %99 = phi i64 [ %92, %88 ], [ %97, %94 ]
  %100 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 6
  store i64 %99, ptr %100, align 8
  %101 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 7
  %102 = load i64, ptr %101, align 8
  %103 = icmp slt i64 %102, 0
  br i1 %103, label %104, label %108

104:                                              ; preds = %98
  %105 = xor i64 %102, -1
  %106 = getelementptr inbounds i64, ptr %4, i64 %105
  %107 = load i64, ptr %106, align 8
  br label %108

108:                                              ; preds = %104, %98
  %109 = phi i64 [ %102, %98 ], [ %107, %104 ]
  %110 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 7
  store i64 %109, ptr %110, align 8
  %111 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 9
  %112 = load i64, ptr %111, align 8
  br label %151

113:                                              ; preds = %15
  %114 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 7), align 4
  %115 = zext i32 %114 to i64
  %116 = xor i64 %115, -1
  %117 = tail call i64 @llvm.smax.i64(i64 %31, i64 %116)
  %118 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 0
  store i64 %117, ptr %118, align 8
  %119 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 1
  %120 = load i64, ptr %119, align 8
  %121 = tail call i64 @llvm.smax.i64(i64 %120, i64 %116)
  %122 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 1
  store i64 %121, ptr %122, align 8
  %123 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 2
  %124 = load i64, ptr %123, align 8
  %125 = tail call i64 @llvm.smax.i64(i64 %124, i64 %116)
  %126 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 2
  store i64 %125, ptr %126, align 8
  %127 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 3
  %128 = load i64, ptr %127, align 8
  %129 = tail call i64 @llvm.smax.i64(i64 %128, i64 %116)
  %130 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 3
  store i64 %129, ptr %130, align 8
  %131 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 4
  %132 = load i64, ptr %131, align 8
  %133 = tail call i64 @llvm.smax.i64(i64 %132, i64 %116)
  %134 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 4
  store i64 %133, ptr %134, align 8
  %135 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 5
  %136 = load i64, ptr %135, align 8
  %137 = tail call i64 @llvm.smax.i64(i64 %136, i64 %116)
  %138 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 5
  store i64 %137, ptr %138, align 8
  %139 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 6
  %140 = load i64, ptr %139, align 8
  %141 = tail call i64 @llvm.smax.i64(i64 %140, i64 %116)
  %142 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 6
  store i64 %141, ptr %142, align 8
  %143 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 8, i64 7
  %144 = load i64, ptr %143, align 8
  %145 = tail call i64 @llvm.smax.i64(i64 %144, i64 %116)
  %146 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 4, i64 7
  store i64 %145, ptr %146, align 8
  %147 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 9
  %148 = load i64, ptr %147, align 8
  %149 = icmp sgt i64 %148, -1
  %150 = or i1 %5, %149
  br i1 %150, label %151, label %158

151:                                              ; preds = %108, %113
  %152 = phi i64 [ %112, %108 ], [ %148, %113 ]
  %153 = icmp slt i64 %152, 0
  br i1 %153, label %154, label %158

154:                                              ; preds = %151
  %155 = xor i64 %152, -1
  %156 = getelementptr inbounds i64, ptr %4, i64 %155
  %157 = load i64, ptr %156, align 8
  br label %158

158:                                              ; preds = %154, %151, %113
  %159 = phi i64 [ -1, %113 ], [ %157, %154 ], [ %152, %151 ]
  %160 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 5
  store i64 %159, ptr %160, align 8
  %161 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 6
  %162 = load double, ptr %161, align 8
  %163 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 6
  store double %162, ptr %163, align 8
  %164 = getelementptr inbounds %struct.plan_tensor, ptr %0, i64 0, i32 7
  %165 = load i64, ptr %164, align 8
  %166 = getelementptr inbounds %struct.model_tensor, ptr %2, i64 0, i32 7
  store i64 %165, ptr %166, align 8
  br label %167

167:                                              ; preds = %11, %13, %6, %158
  %168 = phi i32 [ 0, %158 ], [ -1, %6 ], [ %9, %13 ], [ -1, %11 ]
  call void @llvm.lifetime.end.p0(i64 16384, ptr nonnull %4) #18
  ret i32 %168
}

; Function Attrs: nofree nosync nounwind memory(write, argmem: readwrite, inaccessiblemem: none)
define i32 @model_output(i32 noundef %0, ptr noundef %1, ptr noundef %2) local_unnamed_addr #9 {
  %4 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %5 = icmp ugt i32 %4, %0
  br i1 %5, label %6, label %13

6:                                                ; preds = %3
  %7 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 5), align 4
  %8 = zext i32 %7 to i64
  %9 = getelementptr inbounds i8, ptr @model_plan, i64 %8
  %10 = zext i32 %0 to i64
  %11 = getelementptr inbounds %struct.plan_tensor, ptr %9, i64 %10
  %12 = tail call fastcc i32 @describe_tensor(ptr noundef nonnull %11, ptr noundef %1, ptr noundef %2) #17
  br label %13

13:                                               ; preds = %3, %6
  %14 = phi i32 [ %12, %6 ], [ -6, %3 ]
  ret i32 %14
}

; Function Attrs: nofree nounwind memory(readwrite, inaccessiblemem: none)
define i64 @model_workspace_bytes(ptr noundef %0, i32 noundef %1) local_unnamed_addr #10 {
  %3 = alloca [2048 x i64], align 16
  %4 = load atomic i32, ptr @chosen acquire, align 4
  %5 = icmp eq i32 %4, 0
  %6 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %7 = zext i32 %6 to i64
  %8 = getelementptr inbounds i8, ptr @model_plan, i64 %7
  %9 = add i32 %4, -1
  %10 = zext i32 %9 to i64
  %11 = getelementptr inbounds %struct.plan_code, ptr %8, i64 %10
  %12 = select i1 %5, ptr null, ptr %11
  call void @llvm.lifetime.start.p0(i64 16384, ptr nonnull %3) #18
  br i1 %5, label %30, label %13

13:                                               ; preds = %2
  %14 = icmp eq i32 %1, 0
  br i1 %14, label %30, label %15

15:                                               ; preds = %13
  %16 = getelementptr inbounds %struct.plan_code, ptr %12, i64 0, i32 13
  %17 = load i32, ptr %16, align 8
  %18 = getelementptr inbounds %struct.plan_code, ptr %12, i64 0, i32 14
  %19 = load i32, ptr %18, align 4
  %20 = call fastcc i32 @fill_numbers(ptr noundef %0, i32 noundef %17, i32 noundef %19, ptr noundef nonnull %3) #17
  %21 = icmp eq i32 %20, 0
  br i1 %21, label %24, label %22

22:                                               ; preds = %15
  %23 = sext i32 %20 to i64
  br label %26

24:                                               ; preds = %15
  %25 = call fastcc i64 @workspace_bytes(ptr noundef nonnull %12, ptr noundef nonnull %3, i32 noundef %1) #17
  br label %26

26:                                               ; preds = %24, %22
  %27 = phi i64 [ %23, %22 ], [ %25, %24 ]
  %28 = icmp eq i64 %27, 9223372036854775807
  %29 = select i1 %28, i64 -5, i64 %27
  br label %30

30:                                               ; preds = %13, %2, %26
  %31 = phi i64 [ %29, %26 ], [ -8, %2 ], [ -9, %13 ]
  call void @llvm.lifetime.end.p0(i64 16384, ptr nonnull %3) #18
  ret i64 %31
}

; Function Attrs: nofree nosync nounwind memory(write, argmem: readwrite, inaccessiblemem: none)
define internal fastcc i32 @fill_numbers(ptr noundef readonly %0, i32 noundef %1, i32 noundef %2, ptr nocapture noundef %3) unnamed_addr #9 {
  %5 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 12), align 4
  %6 = zext i32 %5 to i64
  %7 = getelementptr inbounds i8, ptr @model_plan, i64 %6
  %8 = zext i32 %1 to i64
  %9 = getelementptr inbounds i8, ptr @model_plan, i64 %8
  %10 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 7), align 4
  %11 = icmp eq i32 %10, 0
  %12 = icmp ne ptr %0, null
  %13 = or i1 %12, %11
  br i1 %13, label %14, label %150

14:                                               ; preds = %4
  br i1 %11, label %38, label %15

15:                                               ; preds = %14
  %16 = zext i32 %10 to i64
  br label %17

17:                                               ; preds = %15, %34
  %18 = phi i64 [ 0, %15 ], [ %36, %34 ]
  %19 = getelementptr inbounds i64, ptr %0, i64 %18
  %20 = load i64, ptr %19, align 8
  %21 = getelementptr inbounds %struct.plan_dimension, ptr %7, i64 %18, i32 2
  %22 = load i64, ptr %21, align 8
  %23 = icmp slt i64 %20, %22
  br i1 %23, label %150, label %24

24:                                               ; preds = %17
  %25 = getelementptr inbounds %struct.plan_dimension, ptr %7, i64 %18, i32 3
  %26 = load i64, ptr %25, align 8
  %27 = icmp sgt i64 %20, %26
  br i1 %27, label %150, label %28

28:                                               ; preds = %24
  %29 = getelementptr inbounds %struct.plan_dimension, ptr %7, i64 %18, i32 1
  %30 = load i32, ptr %29, align 4
  %31 = zext i32 %30 to i64
  %32 = srem i64 %20, %31
  %33 = icmp eq i64 %32, 0
  br i1 %33, label %34, label %150

34:                                               ; preds = %28
  %35 = getelementptr inbounds i64, ptr %3, i64 %18
  store i64 %20, ptr %35, align 8
  %36 = add nuw nsw i64 %18, 1
  %37 = icmp eq i64 %36, %16
  br i1 %37, label %38, label %17, !llvm.loop !18

38:                                               ; preds = %34, %14
  %39 = phi i64 [ 0, %14 ], [ %16, %34 ]
  %40 = icmp eq i32 %2, 0
  br i1 %40, label %150, label %41

41:                                               ; preds = %38
  %42 = getelementptr inbounds i64, ptr %3, i64 %39
  br label %43

43:                                               ; preds = %41, %145
  %44 = phi i32 [ %146, %145 ], [ %2, %41 ]
  %45 = phi ptr [ %148, %145 ], [ %42, %41 ]
  %46 = phi ptr [ %147, %145 ], [ %9, %41 ]
  %47 = getelementptr inbounds %struct.plan_operation, ptr %46, i64 0, i32 2
  %48 = load i64, ptr %47, align 8
  %49 = icmp slt i64 %48, 0
  br i1 %49, label %50, label %54

50:                                               ; preds = %43
  %51 = xor i64 %48, -1
  %52 = getelementptr inbounds i64, ptr %3, i64 %51
  %53 = load i64, ptr %52, align 8
  br label %54

54:                                               ; preds = %43, %50
  %55 = phi i64 [ %53, %50 ], [ %48, %43 ]
  %56 = getelementptr inbounds %struct.plan_operation, ptr %46, i64 0, i32 3
  %57 = load i64, ptr %56, align 8
  %58 = icmp slt i64 %57, 0
  br i1 %58, label %59, label %63

59:                                               ; preds = %54
  %60 = xor i64 %57, -1
  %61 = getelementptr inbounds i64, ptr %3, i64 %60
  %62 = load i64, ptr %61, align 8
  br label %63

63:                                               ; preds = %54, %59
  %64 = phi i64 [ %62, %59 ], [ %57, %54 ]
  %65 = load i32, ptr %46, align 8
  %66 = getelementptr inbounds %struct.plan_operation, ptr %46, i64 0, i32 4
  %67 = load i64, ptr %66, align 8
  %68 = icmp slt i64 %67, 0
  br i1 %68, label %69, label %73

69:                                               ; preds = %63
  %70 = xor i64 %67, -1
  %71 = getelementptr inbounds i64, ptr %3, i64 %70
  %72 = load i64, ptr %71, align 8
  br label %73

73:                                               ; preds = %63, %69
  %74 = phi i64 [ %72, %69 ], [ %67, %63 ]
  switch i32 %65, label %150 [
    i32 0, label %143
    i32 1, label %139
    i32 2, label %75
    i32 3, label %79
    i32 4, label %83
    i32 5, label %83
    i32 6, label %83
    i32 7, label %83
    i32 8, label %116
    i32 9, label %118
    i32 10, label %120
    i32 11, label %123
    i32 12, label %126
    i32 13, label %129
    i32 14, label %132
    i32 15, label %135
    i32 16, label %137
  ]

75:                                               ; preds = %73
  %76 = tail call { i64, i1 } @llvm.ssub.with.overflow.i64(i64 %55, i64 %64)
  %77 = extractvalue { i64, i1 } %76, 1
  %78 = extractvalue { i64, i1 } %76, 0
  store i64 %78, ptr %45, align 8
  br i1 %77, label %150, label %145

79:                                               ; preds = %73
  %80 = tail call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %55, i64 %64)
  %81 = extractvalue { i64, i1 } %80, 1
  %82 = extractvalue { i64, i1 } %80, 0
  store i64 %82, ptr %45, align 8
  br i1 %81, label %150, label %145

83:                                               ; preds = %73, %73, %73, %73
  %84 = and i32 %65, -3
  %85 = icmp eq i32 %84, 4
  %86 = icmp eq i64 %64, 0
  br i1 %86, label %150, label %87

87:                                               ; preds = %83
  %88 = icmp eq i64 %55, -9223372036854775808
  %89 = and i1 %88, %85
  %90 = icmp eq i64 %64, -1
  %91 = and i1 %90, %89
  br i1 %91, label %150, label %92

92:                                               ; preds = %87
  br i1 %85, label %93, label %95

93:                                               ; preds = %92
  %94 = sdiv i64 %55, %64
  br label %95

95:                                               ; preds = %93, %92
  %96 = phi i64 [ %94, %93 ], [ 0, %92 ]
  br i1 %90, label %112, label %97

97:                                               ; preds = %95
  %98 = srem i64 %55, %64
  %99 = and i32 %65, -2
  %100 = icmp eq i32 %99, 4
  %101 = icmp ne i64 %98, 0
  %102 = and i1 %100, %101
  br i1 %102, label %103, label %112

103:                                              ; preds = %97
  %104 = lshr i64 %98, 63
  %105 = trunc i64 %104 to i32
  %106 = lshr i64 %64, 63
  %107 = trunc i64 %106 to i32
  %108 = icmp eq i32 %105, %107
  br i1 %108, label %112, label %109

109:                                              ; preds = %103
  %110 = add nsw i64 %96, -1
  %111 = add nsw i64 %98, %64
  br label %112

112:                                              ; preds = %109, %103, %97, %95
  %113 = phi i64 [ %110, %109 ], [ %96, %103 ], [ %96, %97 ], [ %96, %95 ]
  %114 = phi i64 [ %111, %109 ], [ %98, %103 ], [ %98, %97 ], [ 0, %95 ]
  %115 = select i1 %85, i64 %113, i64 %114
  br label %143

116:                                              ; preds = %73
  %117 = tail call i64 @llvm.smin.i64(i64 %55, i64 %64)
  br label %143

118:                                              ; preds = %73
  %119 = tail call i64 @llvm.smax.i64(i64 %55, i64 %64)
  br label %143

120:                                              ; preds = %73
  %121 = icmp slt i64 %55, %64
  %122 = zext i1 %121 to i64
  br label %143

123:                                              ; preds = %73
  %124 = icmp eq i64 %55, %64
  %125 = zext i1 %124 to i64
  br label %143

126:                                              ; preds = %73
  %127 = icmp eq i64 %55, 0
  %128 = select i1 %127, i64 %74, i64 %64
  br label %143

129:                                              ; preds = %73
  %130 = tail call i64 @llvm.umin.i64(i64 %64, i64 63)
  %131 = ashr i64 %55, %130
  br label %143

132:                                              ; preds = %73
  store i64 %55, ptr %45, align 8
  %133 = add i64 %55, -2147483648
  %134 = icmp ult i64 %133, -4294967296
  br i1 %134, label %150, label %145

135:                                              ; preds = %73
  store i64 %55, ptr %45, align 8
  %136 = icmp ugt i64 %55, 2147483647
  br i1 %136, label %150, label %145

137:                                              ; preds = %73
  store i64 %55, ptr %45, align 8
  %138 = icmp eq i64 %55, %64
  br i1 %138, label %145, label %150

139:                                              ; preds = %73
  %140 = tail call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %55, i64 %64)
  %141 = extractvalue { i64, i1 } %140, 1
  %142 = extractvalue { i64, i1 } %140, 0
  store i64 %142, ptr %45, align 8
  br i1 %141, label %150, label %145

143:                                              ; preds = %73, %129, %126, %123, %120, %118, %116, %112
  %144 = phi i64 [ %115, %112 ], [ %117, %116 ], [ %119, %118 ], [ %122, %120 ], [ %125, %123 ], [ %128, %126 ], [ %131, %129 ], [ %55, %73 ]
  store i64 %144, ptr %45, align 8
  br label %145

145:                                              ; preds = %143, %75, %79, %132, %135, %137, %139
  %146 = add i32 %44, -1
  %147 = getelementptr inbounds %struct.plan_operation, ptr %46, i64 1
  %148 = getelementptr inbounds i64, ptr %45, i64 1
  %149 = icmp eq i32 %146, 0
  br i1 %149, label %150, label %43, !llvm.loop !19

150:                                              ; preds = %24, %17, %28, %83, %87, %73, %145, %139, %137, %135, %132, %79, %75, %38, %4
  %151 = phi i32 [ -5, %4 ], [ 0, %38 ], [ -5, %75 ], [ -5, %79 ], [ -5, %132 ], [ -5, %135 ], [ -5, %137 ], [ -5, %83 ], [ -5, %87 ], [ -5, %73 ], [ 0, %145 ], [ -5, %139 ], [ -5, %24 ], [ -5, %17 ], [ -16, %28 ]
  ret i32 %151
}

; Function Attrs: nofree nosync nounwind memory(argmem: read)
define internal fastcc i64 @workspace_bytes(ptr nocapture noundef readonly %0, ptr nocapture noundef readonly %1, i32 noundef %2) unnamed_addr #11 {
  %4 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 7), align 4
  %5 = getelementptr inbounds %struct.plan_code, ptr %0, i64 0, i32 14
  %6 = load i32, ptr %5, align 4
  %7 = getelementptr inbounds %struct.plan_code, ptr %0, i64 0, i32 6
  %8 = load i32, ptr %7, align 8
  %9 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 13), align 4
  %10 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %11 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %12 = tail call fastcc i64 @copies_bytes(ptr noundef %1) #17
  %13 = getelementptr inbounds %struct.plan_code, ptr %0, i64 0, i32 8
  %14 = load i64, ptr %13, align 8
  %15 = icmp slt i64 %14, 0
  br i1 %15, label %16, label %20

16:                                               ; preds = %3
  %17 = xor i64 %14, -1
  %18 = getelementptr inbounds i64, ptr %1, i64 %17
  %19 = load i64, ptr %18, align 8
  br label %20

20:                                               ; preds = %3, %16
  %21 = phi i64 [ %19, %16 ], [ %14, %3 ]
  %22 = icmp sgt i64 %21, 9223372036854775743
  br i1 %22, label %27, label %23

23:                                               ; preds = %20
  %24 = add nsw i64 %21, 63
  %25 = sdiv i64 %24, 64
  %26 = shl nsw i64 %25, 6
  br label %27

27:                                               ; preds = %20, %23
  %28 = phi i64 [ %26, %23 ], [ 9223372036854775807, %20 ]
  %29 = getelementptr inbounds %struct.plan_code, ptr %0, i64 0, i32 9
  %30 = load i64, ptr %29, align 8
  %31 = icmp slt i64 %30, 0
  br i1 %31, label %32, label %36

32:                                               ; preds = %27
  %33 = xor i64 %30, -1
  %34 = getelementptr inbounds i64, ptr %1, i64 %33
  %35 = load i64, ptr %34, align 8
  br label %36

36:                                               ; preds = %27, %32
  %37 = phi i64 [ %35, %32 ], [ %30, %27 ]
  %38 = icmp sgt i64 %37, 9223372036854775743
  br i1 %38, label %43, label %39

39:                                               ; preds = %36
  %40 = add nsw i64 %37, 63
  %41 = sdiv i64 %40, 64
  %42 = shl nsw i64 %41, 6
  br label %43

43:                                               ; preds = %36, %39
  %44 = phi i64 [ %42, %39 ], [ 9223372036854775807, %36 ]
  %45 = getelementptr inbounds %struct.plan_code, ptr %0, i64 0, i32 10
  %46 = load i64, ptr %45, align 8
  %47 = icmp slt i64 %46, 0
  br i1 %47, label %48, label %52

48:                                               ; preds = %43
  %49 = xor i64 %46, -1
  %50 = getelementptr inbounds i64, ptr %1, i64 %49
  %51 = load i64, ptr %50, align 8
  br label %52

52:                                               ; preds = %43, %48
  %53 = phi i64 [ %51, %48 ], [ %46, %43 ]
  %54 = icmp sgt i64 %53, 9223372036854775743
  br i1 %54, label %59, label %55

55:                                               ; preds = %52
  %56 = add nsw i64 %53, 63
  %57 = sdiv i64 %56, 64
  %58 = shl nsw i64 %57, 6
  br label %59

59:                                               ; preds = %52, %55
  %60 = phi i64 [ %58, %55 ], [ 9223372036854775807, %52 ]
  %61 = zext i32 %6 to i64
  %62 = zext i32 %4 to i64
  %63 = add nuw nsw i64 %61, %62
  %64 = shl nuw nsw i64 %63, 3
  %65 = add nuw nsw i64 %64, 63
  %66 = and i64 %65, 137438953408
  %67 = zext i32 %8 to i64
  %68 = mul nuw nsw i64 %67, 48
  %69 = add nuw nsw i64 %68, 63
  %70 = and i64 %69, 549755813824
  %71 = shl nuw nsw i64 %67, 4
  %72 = add nuw nsw i64 %71, 63
  %73 = and i64 %72, 137438953408
  %74 = zext i32 %2 to i64
  %75 = mul nuw nsw i64 %74, 48
  %76 = add nuw nsw i64 %75, 111
  %77 = and i64 %76, 549755813824
  %78 = icmp eq i32 %9, 0
  %79 = add i32 %11, %10
  %80 = select i1 %78, i32 0, i32 %79
  %81 = zext i32 %80 to i64
  %82 = shl nuw nsw i64 %81, 4
  %83 = add nuw nsw i64 %82, 63
  %84 = and i64 %83, 137438953408
  %85 = add nuw nsw i64 %70, %77
  %86 = add nuw nsw i64 %85, %66
  %87 = add nuw nsw i64 %86, %73
  %88 = add nuw nsw i64 %87, %84
  %89 = tail call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %88, i64 %12)
  %90 = extractvalue { i64, i1 } %89, 1
  %91 = extractvalue { i64, i1 } %89, 0
  %92 = select i1 %90, i64 9223372036854775807, i64 %91
  %93 = tail call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %92, i64 %28)
  %94 = extractvalue { i64, i1 } %93, 1
  %95 = extractvalue { i64, i1 } %93, 0
  %96 = select i1 %94, i64 9223372036854775807, i64 %95
  %97 = tail call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %96, i64 %44)
  %98 = extractvalue { i64, i1 } %97, 1
  %99 = extractvalue { i64, i1 } %97, 0
  %100 = select i1 %98, i64 9223372036854775807, i64 %99
  %101 = tail call { i64, i1 } @llvm.smul.with.overflow.i64(i64 %74, i64 %60)
  %102 = extractvalue { i64, i1 } %101, 1
  %103 = extractvalue { i64, i1 } %101, 0
  %104 = select i1 %102, i64 9223372036854775807, i64 %103
  %105 = tail call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %100, i64 %104)
  %106 = extractvalue { i64, i1 } %105, 1
  %107 = extractvalue { i64, i1 } %105, 0
  %108 = select i1 %106, i64 9223372036854775807, i64 %107
  ret i64 %108
}

; Function Attrs: nounwind
define i32 @model_run(ptr noundef %0, ptr noundef %1, ptr noundef %2, ptr %3, i64 %4, ptr noundef %5) local_unnamed_addr #0 {
  %7 = alloca %struct.run, align 8
  call void @llvm.lifetime.start.p0(i64 88, ptr nonnull %7) #18
  %8 = load atomic i32, ptr @chosen acquire, align 4
  %9 = icmp eq i32 %8, 0
  %10 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %11 = zext i32 %10 to i64
  %12 = getelementptr inbounds i8, ptr @model_plan, i64 %11
  %13 = add i32 %8, -1
  %14 = zext i32 %13 to i64
  %15 = getelementptr inbounds %struct.plan_code, ptr %12, i64 %14
  %16 = select i1 %9, ptr null, ptr %15
  store ptr %16, ptr %7, align 8
  %17 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 1
  store ptr %1, ptr %17, align 8
  %18 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 2
  store ptr %2, ptr %18, align 8
  %19 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 3
  %20 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 4
  store ptr null, ptr %20, align 8
  %21 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 5
  store ptr null, ptr %21, align 8
  %22 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 6
  store ptr null, ptr %22, align 8
  %23 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 7
  store ptr null, ptr %23, align 8
  %24 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 8
  store ptr null, ptr %24, align 8
  %25 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 9
  store ptr null, ptr %25, align 8
  %26 = getelementptr inbounds %struct.run, ptr %7, i64 0, i32 10
  store ptr null, ptr %26, align 8
  br i1 %9, label %164, label %27

27:                                               ; preds = %6
  %28 = icmp eq ptr %5, null
  br i1 %28, label %47, label %29

29:                                               ; preds = %27
  %30 = load i32, ptr %5, align 8
  switch i32 %30, label %31 [
    i32 0, label %164
    i32 1, label %37
  ]

31:                                               ; preds = %29
  %32 = getelementptr inbounds %struct.model_threads, ptr %5, i64 0, i32 1
  %33 = load ptr, ptr %32, align 8
  %34 = icmp eq ptr %33, null
  br i1 %34, label %164, label %35

35:                                               ; preds = %31
  %36 = icmp eq ptr %33, @launch_in_pool
  br i1 %36, label %41, label %47

37:                                               ; preds = %29
  %38 = getelementptr inbounds %struct.model_threads, ptr %5, i64 0, i32 1
  %39 = load ptr, ptr %38, align 8
  %40 = icmp eq ptr %39, @launch_in_pool
  br i1 %40, label %43, label %47

41:                                               ; preds = %35
  %42 = icmp ugt i32 %30, 256
  br i1 %42, label %164, label %43

43:                                               ; preds = %41, %37
  %44 = getelementptr inbounds %struct.model_threads, ptr %5, i64 0, i32 2
  %45 = load ptr, ptr %44, align 8
  %46 = icmp eq ptr %45, null
  br i1 %46, label %164, label %47

47:                                               ; preds = %37, %43, %35, %27
  %48 = phi i32 [ 1, %27 ], [ %30, %35 ], [ %30, %43 ], [ 1, %37 ]
  %49 = icmp eq ptr %3, null
  br i1 %49, label %164, label %50

50:                                               ; preds = %47
  %51 = ptrtoint ptr %3 to i64
  %52 = and i64 %51, 63
  %53 = icmp eq i64 %52, 0
  br i1 %53, label %54, label %164

54:                                               ; preds = %50
  %55 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 7), align 4
  %56 = zext i32 %55 to i64
  %57 = getelementptr inbounds %struct.plan_code, ptr %16, i64 0, i32 14
  %58 = load i32, ptr %57, align 4
  %59 = zext i32 %58 to i64
  %60 = add nuw nsw i64 %59, %56
  %61 = shl nuw nsw i64 %60, 3
  %62 = add nuw nsw i64 %61, 63
  %63 = and i64 %62, 137438953408
  %64 = icmp ugt i64 %63, %4
  br i1 %64, label %164, label %65

65:                                               ; preds = %54
  store ptr %3, ptr %19, align 8
  %66 = getelementptr inbounds %struct.plan_code, ptr %16, i64 0, i32 13
  %67 = load i32, ptr %66, align 8
  %68 = tail call fastcc i32 @fill_numbers(ptr noundef %0, i32 noundef %67, i32 noundef %58, ptr noundef nonnull %3) #17
  %69 = icmp eq i32 %68, 0
  br i1 %69, label %70, label %164

70:                                               ; preds = %65
  %71 = tail call fastcc i64 @workspace_bytes(ptr noundef nonnull %16, ptr noundef nonnull %3, i32 noundef %48) #17
  %72 = icmp ugt i64 %71, %4
  br i1 %72, label %164, label %73

73:                                               ; preds = %70
  %74 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %75 = zext i32 %74 to i64
  %76 = getelementptr inbounds i8, ptr @model_plan, i64 %75
  %77 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %78 = icmp eq i32 %77, 0
  %79 = icmp ne ptr %1, null
  %80 = xor i1 %79, true
  %81 = or i1 %78, %80
  br i1 %81, label %114, label %82

82:                                               ; preds = %73
  %83 = zext i32 %77 to i64
  br label %87

84:                                               ; preds = %107
  %85 = add nuw nsw i64 %88, 1
  %86 = icmp eq i64 %85, %83
  br i1 %86, label %116, label %87, !llvm.loop !20

87:                                               ; preds = %84, %82
  %88 = phi i64 [ 0, %82 ], [ %85, %84 ]
  %89 = getelementptr inbounds %struct.plan_tensor, ptr %76, i64 %88, i32 9
  %90 = load i64, ptr %89, align 8
  %91 = icmp slt i64 %90, 0
  br i1 %91, label %92, label %96

92:                                               ; preds = %87
  %93 = xor i64 %90, -1
  %94 = getelementptr inbounds i64, ptr %3, i64 %93
  %95 = load i64, ptr %94, align 8
  br label %96

96:                                               ; preds = %92, %87
  %97 = phi i64 [ %95, %92 ], [ %90, %87 ]
  %98 = getelementptr inbounds %struct.model_buffer, ptr %1, i64 %88, i32 1
  %99 = load i64, ptr %98, align 8
  %100 = icmp ult i64 %99, %97
  br i1 %100, label %164, label %101

101:                                              ; preds = %96
  %102 = getelementptr inbounds %struct.model_buffer, ptr %1, i64 %88
  %103 = icmp ne i64 %97, 0
  %104 = load ptr, ptr %102, align 8
  %105 = icmp eq ptr %104, null
  %106 = select i1 %103, i1 %105, i1 false
  br i1 %106, label %164, label %107

107:                                              ; preds = %101
  %108 = ptrtoint ptr %104 to i64
  %109 = getelementptr inbounds %struct.plan_tensor, ptr %76, i64 %88, i32 3
  %110 = load i32, ptr %109, align 4
  %111 = zext i32 %110 to i64
  %112 = urem i64 %108, %111
  %113 = icmp eq i64 %112, 0
  br i1 %113, label %84, label %164

114:                                              ; preds = %73
  %115 = or i1 %79, %78
  br i1 %115, label %116, label %164

116:                                              ; preds = %84, %114
  %117 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 5), align 4
  %118 = zext i32 %117 to i64
  %119 = getelementptr inbounds i8, ptr @model_plan, i64 %118
  %120 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %121 = icmp eq i32 %120, 0
  %122 = icmp ne ptr %2, null
  %123 = xor i1 %122, true
  %124 = or i1 %121, %123
  br i1 %124, label %157, label %125

125:                                              ; preds = %116
  %126 = zext i32 %120 to i64
  br label %130

127:                                              ; preds = %150
  %128 = add nuw nsw i64 %131, 1
  %129 = icmp eq i64 %128, %126
  br i1 %129, label %159, label %130, !llvm.loop !20

130:                                              ; preds = %127, %125
  %131 = phi i64 [ 0, %125 ], [ %128, %127 ]
  %132 = getelementptr inbounds %struct.plan_tensor, ptr %119, i64 %131, i32 9
  %133 = load i64, ptr %132, align 8
  %134 = icmp slt i64 %133, 0
  br i1 %134, label %135, label %139

135:                                              ; preds = %130
  %136 = xor i64 %133, -1
  %137 = getelementptr inbounds i64, ptr %3, i64 %136
  %138 = load i64, ptr %137, align 8
  br label %139

139:                                              ; preds = %135, %130
  %140 = phi i64 [ %138, %135 ], [ %133, %130 ]
  %141 = getelementptr inbounds %struct.model_buffer, ptr %2, i64 %131, i32 1
  %142 = load i64, ptr %141, align 8
  %143 = icmp ult i64 %142, %140
  br i1 %143, label %164, label %144

144:                                              ; preds = %139
  %145 = getelementptr inbounds %struct.model_buffer, ptr %2, i64 %131
  %146 = icmp ne i64 %140, 0
  %147 = load ptr, ptr %145, align 8
  %148 = icmp eq ptr %147, null
  %149 = select i1 %146, i1 %148, i1 false
  br i1 %149, label %164, label %150

150:                                              ; preds = %144
  %151 = ptrtoint ptr %147 to i64
  %152 = getelementptr inbounds %struct.plan_tensor, ptr %119, i64 %131, i32 3
  %153 = load i32, ptr %152, align 4
  %154 = zext i32 %153 to i64
  %155 = urem i64 %151, %154
  %156 = icmp eq i64 %155, 0
  br i1 %156, label %127, label %164

157:                                              ; preds = %116
  %158 = or i1 %122, %121
  br i1 %158, label %159, label %164

159:                                              ; preds = %127, %157
  %160 = tail call fastcc i32 @check_indices(ptr noundef %1, ptr noundef nonnull %3) #17
  %161 = icmp eq i32 %160, 0
  br i1 %161, label %162, label %164

162:                                              ; preds = %159
  %163 = call fastcc i32 @run_model(ptr noundef nonnull %7, ptr noundef nonnull %3, ptr noundef %5) #17
  br label %164

164:                                              ; preds = %101, %107, %96, %144, %150, %139, %70, %65, %54, %50, %47, %43, %41, %31, %29, %159, %157, %114, %6, %162
  %165 = phi i32 [ %163, %162 ], [ -8, %6 ], [ -1, %114 ], [ -1, %157 ], [ %160, %159 ], [ -9, %29 ], [ -9, %31 ], [ -9, %41 ], [ -9, %43 ], [ %68, %65 ], [ -4, %54 ], [ -3, %50 ], [ -1, %47 ], [ -4, %70 ], [ -2, %139 ], [ -3, %150 ], [ -1, %144 ], [ -2, %96 ], [ -3, %107 ], [ -1, %101 ]
  call void @llvm.lifetime.end.p0(i64 88, ptr nonnull %7) #18
  ret i32 %165
}

; Function Attrs: nofree norecurse nosync nounwind memory(read, inaccessiblemem: none)
define internal fastcc i32 @check_indices(ptr nocapture noundef readonly %0, ptr nocapture noundef readonly %1) unnamed_addr #12 {
  %3 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 16), align 4
  %4 = zext i32 %3 to i64
  %5 = getelementptr inbounds i8, ptr @model_plan, i64 %4
  %6 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 17), align 4
  %7 = zext i32 %6 to i64
  %8 = getelementptr inbounds %struct.plan_indices, ptr %5, i64 %7
  %9 = icmp eq i32 %6, 0
  br i1 %9, label %103, label %10

10:                                               ; preds = %2
  %11 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %12 = zext i32 %11 to i64
  %13 = getelementptr inbounds i8, ptr @model_plan, i64 %12
  br label %14

14:                                               ; preds = %10, %100
  %15 = phi ptr [ %5, %10 ], [ %101, %100 ]
  %16 = load i32, ptr %15, align 4
  %17 = zext i32 %16 to i64
  %18 = getelementptr inbounds %struct.plan_tensor, ptr %13, i64 %17
  %19 = getelementptr inbounds %struct.plan_indices, ptr %15, i64 0, i32 2
  %20 = load i32, ptr %19, align 4
  %21 = zext i32 %20 to i64
  %22 = getelementptr inbounds i8, ptr @model_plan, i64 %21
  %23 = getelementptr inbounds %struct.plan_tensor, ptr %13, i64 %17, i32 9
  %24 = load i64, ptr %23, align 8
  %25 = icmp slt i64 %24, 0
  br i1 %25, label %26, label %30

26:                                               ; preds = %14
  %27 = xor i64 %24, -1
  %28 = getelementptr inbounds i64, ptr %1, i64 %27
  %29 = load i64, ptr %28, align 8
  br label %30

30:                                               ; preds = %14, %26
  %31 = phi i64 [ %29, %26 ], [ %24, %14 ]
  %32 = getelementptr inbounds %struct.plan_tensor, ptr %13, i64 %17, i32 4
  %33 = load i32, ptr %32, align 8
  %34 = zext i32 %33 to i64
  %35 = sdiv i64 %31, %34
  %36 = getelementptr inbounds %struct.plan_indices, ptr %15, i64 0, i32 1
  %37 = load i32, ptr %36, align 4
  %38 = icmp eq i32 %37, 0
  br i1 %38, label %100, label %39

39:                                               ; preds = %30
  %40 = getelementptr inbounds %struct.model_buffer, ptr %0, i64 %17
  %41 = getelementptr inbounds %struct.plan_tensor, ptr %18, i64 0, i32 1
  %42 = zext i32 %37 to i64
  br label %43

43:                                               ; preds = %39, %97
  %44 = phi i64 [ 0, %39 ], [ %98, %97 ]
  %45 = getelementptr inbounds i64, ptr %22, i64 %44
  %46 = load i64, ptr %45, align 8
  %47 = icmp slt i64 %46, 0
  br i1 %47, label %48, label %52

48:                                               ; preds = %43
  %49 = xor i64 %46, -1
  %50 = getelementptr inbounds i64, ptr %1, i64 %49
  %51 = load i64, ptr %50, align 8
  br label %52

52:                                               ; preds = %43, %48
  %53 = phi i64 [ %51, %48 ], [ %46, %43 ]
  %54 = icmp sgt i64 %35, %44
  br i1 %54, label %55, label %97

55:                                               ; preds = %52
  %56 = load ptr, ptr %40, align 8
  %57 = load i32, ptr %41, align 4
  %58 = zext i32 %57 to i64
  %59 = getelementptr inbounds i8, ptr @model_plan, i64 %58
  %60 = load i8, ptr %59, align 1
  %61 = icmp eq i8 %60, 105
  %62 = sub nsw i64 0, %53
  br label %66

63:                                               ; preds = %92
  %64 = add nuw nsw i64 %67, %42
  %65 = icmp slt i64 %64, %35
  br i1 %65, label %66, label %97, !llvm.loop !21

66:                                               ; preds = %55, %63
  %67 = phi i64 [ %44, %55 ], [ %64, %63 ]
  switch i32 %33, label %89 [
    i32 1, label %68
    i32 2, label %75
    i32 4, label %82
  ]

68:                                               ; preds = %66
  %69 = getelementptr inbounds i8, ptr %56, i64 %67
  %70 = load i8, ptr %69, align 1
  br i1 %61, label %71, label %73

71:                                               ; preds = %68
  %72 = sext i8 %70 to i64
  br label %92

73:                                               ; preds = %68
  %74 = zext i8 %70 to i64
  br label %92

75:                                               ; preds = %66
  %76 = getelementptr inbounds i16, ptr %56, i64 %67
  %77 = load i16, ptr %76, align 2
  br i1 %61, label %78, label %80

78:                                               ; preds = %75
  %79 = sext i16 %77 to i64
  br label %92

80:                                               ; preds = %75
  %81 = zext i16 %77 to i64
  br label %92

82:                                               ; preds = %66
  %83 = getelementptr inbounds i32, ptr %56, i64 %67
  %84 = load i32, ptr %83, align 4
  br i1 %61, label %85, label %87

85:                                               ; preds = %82
  %86 = sext i32 %84 to i64
  br label %92

87:                                               ; preds = %82
  %88 = zext i32 %84 to i64
  br label %92

89:                                               ; preds = %66
  %90 = getelementptr inbounds i64, ptr %56, i64 %67
  %91 = load i64, ptr %90, align 8
  br label %92

92:                                               ; preds = %71, %73, %78, %80, %85, %87, %89
  %93 = phi i64 [ %91, %89 ], [ %72, %71 ], [ %74, %73 ], [ %79, %78 ], [ %81, %80 ], [ %86, %85 ], [ %88, %87 ]
  %94 = icmp sge i64 %93, %62
  %95 = icmp slt i64 %93, %53
  %96 = and i1 %94, %95
  br i1 %96, label %63, label %103

97:                                               ; preds = %63, %52
  %98 = add nuw nsw i64 %44, 1
  %99 = icmp eq i64 %98, %42
  br i1 %99, label %100, label %43, !llvm.loop !22

100:                                              ; preds = %97, %30
  %101 = getelementptr inbounds %struct.plan_indices, ptr %15, i64 1
  %102 = icmp ult ptr %101, %8
  br i1 %102, label %14, label %103, !llvm.loop !23

103:                                              ; preds = %100, %92, %2
  %104 = phi i32 [ 0, %2 ], [ -15, %92 ], [ 0, %100 ]
  ret i32 %104
}

; Function Attrs: nounwind
define internal fastcc i32 @run_model(ptr nocapture noundef %0, ptr noundef %1, ptr noundef %2) unnamed_addr #0 {
  %4 = load ptr, ptr %0, align 8
  %5 = getelementptr inbounds %struct.plan_code, ptr %4, i64 0, i32 6
  %6 = load i32, ptr %5, align 8
  %7 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 3
  %8 = load ptr, ptr %7, align 8
  %9 = getelementptr inbounds %struct.plan_code, ptr %4, i64 0, i32 10
  %10 = load i64, ptr %9, align 8
  %11 = icmp slt i64 %10, 0
  br i1 %11, label %12, label %16

12:                                               ; preds = %3
  %13 = xor i64 %10, -1
  %14 = getelementptr inbounds i64, ptr %8, i64 %13
  %15 = load i64, ptr %14, align 8
  br label %16

16:                                               ; preds = %3, %12
  %17 = phi i64 [ %15, %12 ], [ %10, %3 ]
  %18 = icmp sgt i64 %17, 9223372036854775743
  br i1 %18, label %23, label %19

19:                                               ; preds = %16
  %20 = add nsw i64 %17, 63
  %21 = sdiv i64 %20, 64
  %22 = shl nsw i64 %21, 6
  br label %23

23:                                               ; preds = %16, %19
  %24 = phi i64 [ %22, %19 ], [ 9223372036854775807, %16 ]
  %25 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 7), align 4
  %26 = zext i32 %25 to i64
  %27 = getelementptr inbounds %struct.plan_code, ptr %4, i64 0, i32 14
  %28 = load i32, ptr %27, align 4
  %29 = zext i32 %28 to i64
  %30 = add nuw nsw i64 %29, %26
  %31 = shl nuw nsw i64 %30, 3
  %32 = add nuw nsw i64 %31, 63
  %33 = and i64 %32, 137438953408
  %34 = getelementptr inbounds i8, ptr %1, i64 %33
  %35 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 6
  store ptr %34, ptr %35, align 8
  %36 = zext i32 %6 to i64
  %37 = mul nuw nsw i64 %36, 48
  %38 = add nuw nsw i64 %37, 63
  %39 = and i64 %38, 549755813824
  %40 = getelementptr inbounds i8, ptr %34, i64 %39
  %41 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 7
  store ptr %40, ptr %41, align 8
  %42 = shl nuw nsw i64 %36, 4
  %43 = add nuw nsw i64 %42, 63
  %44 = and i64 %43, 137438953408
  %45 = getelementptr inbounds i8, ptr %40, i64 %44
  %46 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 8
  store ptr %45, ptr %46, align 8
  %47 = icmp eq ptr %2, null
  br i1 %47, label %54, label %48

48:                                               ; preds = %23
  %49 = load i32, ptr %2, align 8
  %50 = zext i32 %49 to i64
  %51 = mul nuw nsw i64 %50, 48
  %52 = add nuw nsw i64 %51, 111
  %53 = and i64 %52, 549755813824
  br label %54

54:                                               ; preds = %23, %48
  %55 = phi i64 [ %53, %48 ], [ 128, %23 ]
  %56 = getelementptr inbounds i8, ptr %45, i64 %55
  %57 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 13), align 4
  %58 = icmp eq i32 %57, 0
  %59 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %60 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %61 = add i32 %60, %59
  %62 = select i1 %58, i32 0, i32 %61
  %63 = zext i32 %62 to i64
  %64 = shl nuw nsw i64 %63, 4
  %65 = add nuw nsw i64 %64, 63
  %66 = and i64 %65, 137438953408
  %67 = getelementptr inbounds i8, ptr %56, i64 %66
  %68 = tail call fastcc i64 @copies_bytes(ptr noundef %8) #17
  %69 = getelementptr inbounds i8, ptr %67, i64 %68
  %70 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 4
  store ptr %69, ptr %70, align 8
  %71 = getelementptr inbounds %struct.plan_code, ptr %4, i64 0, i32 8
  %72 = load i64, ptr %71, align 8
  %73 = icmp slt i64 %72, 0
  br i1 %73, label %74, label %78

74:                                               ; preds = %54
  %75 = xor i64 %72, -1
  %76 = getelementptr inbounds i64, ptr %8, i64 %75
  %77 = load i64, ptr %76, align 8
  br label %78

78:                                               ; preds = %54, %74
  %79 = phi i64 [ %77, %74 ], [ %72, %54 ]
  %80 = icmp sgt i64 %79, 9223372036854775743
  br i1 %80, label %85, label %81

81:                                               ; preds = %78
  %82 = add nsw i64 %79, 63
  %83 = sdiv i64 %82, 64
  %84 = shl nsw i64 %83, 6
  br label %85

85:                                               ; preds = %78, %81
  %86 = phi i64 [ %84, %81 ], [ 9223372036854775807, %78 ]
  %87 = getelementptr inbounds i8, ptr %69, i64 %86
  %88 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 5
  store ptr %87, ptr %88, align 8
  %89 = getelementptr inbounds %struct.plan_code, ptr %4, i64 0, i32 9
  %90 = load i64, ptr %89, align 8
  %91 = icmp slt i64 %90, 0
  br i1 %91, label %92, label %96

92:                                               ; preds = %85
  %93 = xor i64 %90, -1
  %94 = getelementptr inbounds i64, ptr %8, i64 %93
  %95 = load i64, ptr %94, align 8
  br label %96

96:                                               ; preds = %85, %92
  %97 = phi i64 [ %95, %92 ], [ %90, %85 ]
  %98 = icmp sgt i64 %97, 9223372036854775743
  br i1 %98, label %103, label %99

99:                                               ; preds = %96
  %100 = add nsw i64 %97, 63
  %101 = sdiv i64 %100, 64
  %102 = shl nsw i64 %101, 6
  br label %103

103:                                              ; preds = %96, %99
  %104 = phi i64 [ %102, %99 ], [ 9223372036854775807, %96 ]
  %105 = getelementptr inbounds i8, ptr %87, i64 %104
  %106 = getelementptr inbounds %struct.context, ptr %45, i64 1
  store ptr %87, ptr %45, align 8
  %107 = getelementptr inbounds i8, ptr %45, i64 8
  store ptr %105, ptr %107, align 8
  %108 = getelementptr inbounds i8, ptr %45, i64 16
  store ptr %105, ptr %108, align 8
  %109 = getelementptr inbounds i8, ptr %45, i64 24
  store ptr %106, ptr %109, align 8
  %110 = getelementptr inbounds i8, ptr %45, i64 32
  store i64 %24, ptr %110, align 8
  %111 = getelementptr inbounds i8, ptr %45, i64 40
  store ptr %2, ptr %111, align 8
  %112 = icmp eq i32 %6, 0
  br i1 %112, label %128, label %113

113:                                              ; preds = %103
  %114 = and i64 %36, 1
  %115 = icmp eq i32 %6, 1
  br i1 %115, label %118, label %116

116:                                              ; preds = %113
  %117 = and i64 %36, 4294967294
  br label %427

118:                                              ; preds = %427, %113
  %119 = phi i64 [ 0, %113 ], [ %443, %427 ]
  %120 = icmp eq i64 %114, 0
  br i1 %120, label %128, label %121

121:                                              ; preds = %118
  %122 = load ptr, ptr %35, align 8
  %123 = getelementptr inbounds %struct.tensor, ptr %122, i64 %119
  store ptr null, ptr %123, align 8
  %124 = getelementptr inbounds i8, ptr %123, i64 8
  store i32 1, ptr %124, align 8
  %125 = getelementptr inbounds i8, ptr %123, i64 12
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(10) %125, i8 0, i64 10, i1 false)
  %126 = getelementptr inbounds i8, ptr %123, i64 22
  store i16 1, ptr %126, align 2
  %127 = getelementptr inbounds i8, ptr %123, i64 24
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(24) %127, i8 0, i64 24, i1 false)
  br label %128

128:                                              ; preds = %121, %118, %103
  %129 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %130 = load ptr, ptr %129, align 8
  %131 = load ptr, ptr %46, align 8
  store ptr %131, ptr %129, align 8
  %132 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 1
  %133 = load ptr, ptr %132, align 8
  %134 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 2
  %135 = load ptr, ptr %134, align 8
  br i1 %58, label %136, label %138

136:                                              ; preds = %128
  %137 = tail call fastcc i32 @run_steps(ptr noundef nonnull %0) #17
  br label %425

138:                                              ; preds = %128
  store ptr %56, ptr %132, align 8
  %139 = zext i32 %59 to i64
  %140 = getelementptr inbounds %struct.model_buffer, ptr %56, i64 %139
  store ptr %140, ptr %134, align 8
  %141 = add i32 %57, -1
  %142 = zext i32 %141 to i64
  %143 = load ptr, ptr %7, align 8
  %144 = getelementptr inbounds i64, ptr %143, i64 %142
  %145 = load i64, ptr %144, align 8
  %146 = icmp sgt i64 %145, 0
  br i1 %146, label %147, label %425

147:                                              ; preds = %138
  %148 = icmp eq i32 %61, 0
  %149 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 5), align 4
  %150 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %151 = zext i32 %61 to i64
  br label %152

152:                                              ; preds = %157, %147
  %153 = phi i64 [ 0, %147 ], [ %158, %157 ]
  br label %154

154:                                              ; preds = %422, %152
  %155 = phi i1 [ true, %152 ], [ false, %422 ]
  %156 = phi i32 [ 0, %152 ], [ 1, %422 ]
  br i1 %148, label %163, label %164

157:                                              ; preds = %163
  %158 = add nuw nsw i64 %153, 1
  %159 = load ptr, ptr %7, align 8
  %160 = getelementptr inbounds i64, ptr %159, i64 %142
  %161 = load i64, ptr %160, align 8
  %162 = icmp slt i64 %158, %161
  br i1 %162, label %152, label %425, !llvm.loop !24

163:                                              ; preds = %418, %154
  br i1 %155, label %422, label %157

164:                                              ; preds = %154, %418
  %165 = phi i64 [ %420, %418 ], [ 0, %154 ]
  %166 = phi ptr [ %419, %418 ], [ %67, %154 ]
  %167 = icmp ult i64 %165, %139
  %168 = select i1 %167, i32 0, i32 %59
  %169 = trunc i64 %165 to i32
  %170 = sub i32 %169, %168
  %171 = select i1 %167, i32 %150, i32 %149
  %172 = zext i32 %171 to i64
  %173 = getelementptr inbounds i8, ptr @model_plan, i64 %172
  %174 = zext i32 %170 to i64
  %175 = getelementptr inbounds %struct.plan_tensor, ptr %173, i64 %174
  %176 = zext i1 %167 to i32
  %177 = load ptr, ptr %7, align 8
  %178 = getelementptr inbounds %struct.plan_tensor, ptr %175, i64 0, i32 5
  %179 = load i32, ptr %178, align 4
  switch i32 %179, label %180 [
    i32 0, label %257
    i32 1, label %234
  ]

180:                                              ; preds = %164
  %181 = add i32 %179, -1
  %182 = zext i32 %181 to i64
  %183 = and i64 %182, 1
  %184 = icmp eq i32 %181, 1
  br i1 %184, label %215, label %185

185:                                              ; preds = %180
  %186 = and i64 %182, 4294967294
  br label %187

187:                                              ; preds = %210, %185
  %188 = phi i64 [ 0, %185 ], [ %202, %210 ]
  %189 = phi i64 [ 1, %185 ], [ %212, %210 ]
  %190 = phi i64 [ 0, %185 ], [ %213, %210 ]
  %191 = or i64 %188, 1
  %192 = getelementptr inbounds %struct.plan_tensor, ptr %175, i64 0, i32 8, i64 %188
  %193 = load i64, ptr %192, align 8
  %194 = icmp slt i64 %193, 0
  br i1 %194, label %195, label %199

195:                                              ; preds = %187
  %196 = xor i64 %193, -1
  %197 = getelementptr inbounds i64, ptr %177, i64 %196
  %198 = load i64, ptr %197, align 8
  br label %199

199:                                              ; preds = %195, %187
  %200 = phi i64 [ %198, %195 ], [ %193, %187 ]
  %201 = mul nsw i64 %200, %189
  %202 = add nuw nsw i64 %188, 2
  %203 = getelementptr inbounds %struct.plan_tensor, ptr %175, i64 0, i32 8, i64 %191
  %204 = load i64, ptr %203, align 8
  %205 = icmp slt i64 %204, 0
  br i1 %205, label %206, label %210

206:                                              ; preds = %199
  %207 = xor i64 %204, -1
  %208 = getelementptr inbounds i64, ptr %177, i64 %207
  %209 = load i64, ptr %208, align 8
  br label %210

210:                                              ; preds = %206, %199
  %211 = phi i64 [ %209, %206 ], [ %204, %199 ]
  %212 = mul nsw i64 %211, %201
  %213 = add i64 %190, 2
  %214 = icmp eq i64 %213, %186
  br i1 %214, label %215, label %187, !llvm.loop !25

215:                                              ; preds = %210, %180
  %216 = phi i64 [ undef, %180 ], [ %212, %210 ]
  %217 = phi i64 [ 0, %180 ], [ %202, %210 ]
  %218 = phi i64 [ 1, %180 ], [ %212, %210 ]
  %219 = icmp eq i64 %183, 0
  br i1 %219, label %231, label %220

220:                                              ; preds = %215
  %221 = getelementptr inbounds %struct.plan_tensor, ptr %175, i64 0, i32 8, i64 %217
  %222 = load i64, ptr %221, align 8
  %223 = icmp slt i64 %222, 0
  br i1 %223, label %224, label %228

224:                                              ; preds = %220
  %225 = xor i64 %222, -1
  %226 = getelementptr inbounds i64, ptr %177, i64 %225
  %227 = load i64, ptr %226, align 8
  br label %228

228:                                              ; preds = %224, %220
  %229 = phi i64 [ %227, %224 ], [ %222, %220 ]
  %230 = mul nsw i64 %229, %218
  br label %231

231:                                              ; preds = %215, %228
  %232 = phi i64 [ %216, %215 ], [ %230, %228 ]
  %233 = icmp eq i64 %232, 1
  br i1 %233, label %234, label %257

234:                                              ; preds = %231, %164
  %235 = getelementptr inbounds i64, ptr %177, i64 %142
  %236 = load i64, ptr %235, align 8
  %237 = icmp eq i64 %236, 0
  br i1 %237, label %249, label %238

238:                                              ; preds = %234
  %239 = getelementptr inbounds %struct.plan_tensor, ptr %175, i64 0, i32 9
  %240 = load i64, ptr %239, align 8
  %241 = icmp slt i64 %240, 0
  br i1 %241, label %242, label %246

242:                                              ; preds = %238
  %243 = xor i64 %240, -1
  %244 = getelementptr inbounds i64, ptr %177, i64 %243
  %245 = load i64, ptr %244, align 8
  br label %246

246:                                              ; preds = %242, %238
  %247 = phi i64 [ %245, %242 ], [ %240, %238 ]
  %248 = sdiv i64 %247, %236
  br label %249

249:                                              ; preds = %246, %234
  %250 = phi i64 [ %248, %246 ], [ 0, %234 ]
  %251 = getelementptr inbounds %struct.plan_tensor, ptr %175, i64 0, i32 3
  %252 = load i32, ptr %251, align 4
  %253 = zext i32 %252 to i64
  %254 = srem i64 %250, %253
  %255 = icmp ne i64 %254, 0
  %256 = zext i1 %255 to i32
  br label %257

257:                                              ; preds = %249, %231, %164
  %258 = phi i32 [ %179, %164 ], [ 1, %231 ], [ %256, %249 ]
  %259 = getelementptr inbounds %struct.model_buffer, ptr %133, i64 %165
  %260 = sub i32 %169, %59
  %261 = zext i32 %260 to i64
  %262 = getelementptr inbounds %struct.model_buffer, ptr %135, i64 %261
  %263 = select i1 %167, ptr %259, ptr %262
  %264 = load ptr, ptr %263, align 8
  %265 = getelementptr inbounds i64, ptr %177, i64 %142
  %266 = load i64, ptr %265, align 8
  %267 = icmp eq i64 %266, 0
  br i1 %267, label %279, label %268

268:                                              ; preds = %257
  %269 = getelementptr inbounds %struct.plan_tensor, ptr %175, i64 0, i32 9
  %270 = load i64, ptr %269, align 8
  %271 = icmp slt i64 %270, 0
  br i1 %271, label %272, label %276

272:                                              ; preds = %268
  %273 = xor i64 %270, -1
  %274 = getelementptr inbounds i64, ptr %177, i64 %273
  %275 = load i64, ptr %274, align 8
  br label %276

276:                                              ; preds = %272, %268
  %277 = phi i64 [ %275, %272 ], [ %270, %268 ]
  %278 = sdiv i64 %277, %266
  br label %279

279:                                              ; preds = %276, %257
  %280 = phi i64 [ %278, %276 ], [ 0, %257 ]
  %281 = icmp eq i32 %258, 0
  %282 = icmp eq i32 %156, %176
  %283 = select i1 %281, i1 true, i1 %282
  br i1 %283, label %398, label %284

284:                                              ; preds = %279
  %285 = icmp ugt i32 %179, 1
  br i1 %285, label %286, label %340

286:                                              ; preds = %284
  %287 = add i32 %179, -1
  %288 = zext i32 %287 to i64
  %289 = and i64 %288, 1
  %290 = icmp eq i32 %287, 1
  br i1 %290, label %321, label %291

291:                                              ; preds = %286
  %292 = and i64 %288, 4294967294
  br label %293

293:                                              ; preds = %316, %291
  %294 = phi i64 [ 0, %291 ], [ %308, %316 ]
  %295 = phi i64 [ 1, %291 ], [ %318, %316 ]
  %296 = phi i64 [ 0, %291 ], [ %319, %316 ]
  %297 = or i64 %294, 1
  %298 = getelementptr inbounds %struct.plan_tensor, ptr %175, i64 0, i32 8, i64 %294
  %299 = load i64, ptr %298, align 8
  %300 = icmp slt i64 %299, 0
  br i1 %300, label %301, label %305

301:                                              ; preds = %293
  %302 = xor i64 %299, -1
  %303 = getelementptr inbounds i64, ptr %177, i64 %302
  %304 = load i64, ptr %303, align 8
  br label %305

305:                                              ; preds = %301, %293
  %306 = phi i64 [ %304, %301 ], [ %299, %293 ]
  %307 = mul nsw i64 %306, %295
  %308 = add nuw nsw i64 %294, 2
  %309 = getelementptr inbounds %struct.plan_tensor, ptr %175, i64 0, i32 8, i64 %297
  %310 = load i64, ptr %309, align 8
  %311 = icmp slt i64 %310, 0
  br i1 %311, label %312, label %316

312:                                              ; preds = %305
  %313 = xor i64 %310, -1
  %314 = getelementptr inbounds i64, ptr %177, i64 %313
  %315 = load i64, ptr %314, align 8
  br label %316

316:                                              ; preds = %312, %305
  %317 = phi i64 [ %315, %312 ], [ %310, %305 ]
  %318 = mul nsw i64 %317, %307
  %319 = add i64 %296, 2
  %320 = icmp eq i64 %319, %292
  br i1 %320, label %321, label %293, !llvm.loop !25

321:                                              ; preds = %316, %286
  %322 = phi i64 [ undef, %286 ], [ %318, %316 ]
  %323 = phi i64 [ 0, %286 ], [ %308, %316 ]
  %324 = phi i64 [ 1, %286 ], [ %318, %316 ]
  %325 = icmp eq i64 %289, 0
  br i1 %325, label %337, label %326

326:                                              ; preds = %321
  %327 = getelementptr inbounds %struct.plan_tensor, ptr %175, i64 0, i32 8, i64 %323
  %328 = load i64, ptr %327, align 8
  %329 = icmp slt i64 %328, 0
  br i1 %329, label %330, label %334

330:                                              ; preds = %326
  %331 = xor i64 %328, -1
  %332 = getelementptr inbounds i64, ptr %177, i64 %331
  %333 = load i64, ptr %332, align 8
  br label %334

334:                                              ; preds = %330, %326
  %335 = phi i64 [ %333, %330 ], [ %328, %326 ]
  %336 = mul nsw i64 %335, %324
  br label %337

337:                                              ; preds = %321, %334
  %338 = phi i64 [ %322, %321 ], [ %336, %334 ]
  %339 = icmp eq i64 %338, 0
  br i1 %339, label %398, label %340

340:                                              ; preds = %337, %284
  %341 = phi i64 [ %338, %337 ], [ 1, %284 ]
  br i1 %267, label %353, label %342

342:                                              ; preds = %340
  %343 = getelementptr inbounds %struct.plan_tensor, ptr %175, i64 0, i32 9
  %344 = load i64, ptr %343, align 8
  %345 = icmp slt i64 %344, 0
  br i1 %345, label %346, label %350

346:                                              ; preds = %342
  %347 = xor i64 %344, -1
  %348 = getelementptr inbounds i64, ptr %177, i64 %347
  %349 = load i64, ptr %348, align 8
  br label %350

350:                                              ; preds = %346, %342
  %351 = phi i64 [ %349, %346 ], [ %344, %342 ]
  %352 = sdiv i64 %351, %266
  br label %353

353:                                              ; preds = %350, %340
  %354 = phi i64 [ %352, %350 ], [ 0, %340 ]
  %355 = sdiv i64 %354, %341
  %356 = icmp sgt i64 %341, 0
  br i1 %356, label %357, label %398

357:                                              ; preds = %353
  %358 = and i64 %341, 1
  %359 = icmp eq i64 %341, 1
  br i1 %359, label %386, label %360

360:                                              ; preds = %357
  %361 = and i64 %341, -2
  br label %362

362:                                              ; preds = %362, %360
  %363 = phi ptr [ %166, %360 ], [ %383, %362 ]
  %364 = phi i64 [ 0, %360 ], [ %382, %362 ]
  %365 = phi i64 [ 0, %360 ], [ %384, %362 ]
  %366 = load i64, ptr %265, align 8
  %367 = mul nsw i64 %366, %364
  %368 = add nsw i64 %367, %153
  %369 = mul nsw i64 %368, %355
  %370 = getelementptr inbounds i8, ptr %264, i64 %369
  %371 = select i1 %167, ptr %363, ptr %370
  %372 = select i1 %167, ptr %370, ptr %363
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %371, ptr align 1 %372, i64 %355, i1 false)
  %373 = or i64 %364, 1
  %374 = getelementptr inbounds i8, ptr %363, i64 %355
  %375 = load i64, ptr %265, align 8
  %376 = mul nsw i64 %375, %373
  %377 = add nsw i64 %376, %153
  %378 = mul nsw i64 %377, %355
  %379 = getelementptr inbounds i8, ptr %264, i64 %378
  %380 = select i1 %167, ptr %374, ptr %379
  %381 = select i1 %167, ptr %379, ptr %374
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %380, ptr align 1 %381, i64 %355, i1 false)
  %382 = add nuw nsw i64 %364, 2
  %383 = getelementptr inbounds i8, ptr %374, i64 %355
  %384 = add i64 %365, 2
  %385 = icmp eq i64 %384, %361
  br i1 %385, label %386, label %362, !llvm.loop !26

386:                                              ; preds = %362, %357
  %387 = phi ptr [ %166, %357 ], [ %383, %362 ]
  %388 = phi i64 [ 0, %357 ], [ %382, %362 ]
  %389 = icmp eq i64 %358, 0
  br i1 %389, label %398, label %390

390:                                              ; preds = %386
  %391 = load i64, ptr %265, align 8
  %392 = mul nsw i64 %391, %388
  %393 = add nsw i64 %392, %153
  %394 = mul nsw i64 %393, %355
  %395 = getelementptr inbounds i8, ptr %264, i64 %394
  %396 = select i1 %167, ptr %387, ptr %395
  %397 = select i1 %167, ptr %395, ptr %387
  tail call void @llvm.memcpy.p0.p0.i64(ptr align 1 %396, ptr align 1 %397, i64 %355, i1 false)
  br label %398

398:                                              ; preds = %390, %386, %353, %337, %279
  br i1 %155, label %399, label %408

399:                                              ; preds = %398
  br i1 %281, label %400, label %405

400:                                              ; preds = %399
  %401 = icmp eq i32 %179, 0
  br i1 %401, label %405, label %402

402:                                              ; preds = %400
  %403 = mul nsw i64 %280, %153
  %404 = getelementptr inbounds i8, ptr %264, i64 %403
  br label %405

405:                                              ; preds = %402, %400, %399
  %406 = phi ptr [ %404, %402 ], [ %166, %399 ], [ %264, %400 ]
  %407 = getelementptr inbounds %struct.model_buffer, ptr %56, i64 %165
  store ptr %406, ptr %407, align 8
  br label %408

408:                                              ; preds = %405, %398
  br i1 %281, label %418, label %409

409:                                              ; preds = %408
  %410 = icmp sgt i64 %280, 9223372036854775743
  br i1 %410, label %415, label %411

411:                                              ; preds = %409
  %412 = add nsw i64 %280, 63
  %413 = sdiv i64 %412, 64
  %414 = shl nsw i64 %413, 6
  br label %415

415:                                              ; preds = %411, %409
  %416 = phi i64 [ %414, %411 ], [ 9223372036854775807, %409 ]
  %417 = getelementptr inbounds i8, ptr %166, i64 %416
  br label %418

418:                                              ; preds = %415, %408
  %419 = phi ptr [ %417, %415 ], [ %166, %408 ]
  %420 = add nuw nsw i64 %165, 1
  %421 = icmp eq i64 %420, %151
  br i1 %421, label %163, label %164, !llvm.loop !27

422:                                              ; preds = %163
  %423 = tail call fastcc i32 @run_steps(ptr noundef nonnull %0) #17
  %424 = icmp eq i32 %423, 0
  br i1 %424, label %154, label %425, !llvm.loop !28

425:                                              ; preds = %157, %422, %136, %138
  %426 = phi i32 [ %137, %136 ], [ 0, %138 ], [ %423, %422 ], [ 0, %157 ]
  store ptr %130, ptr %129, align 8
  ret i32 %426

427:                                              ; preds = %427, %116
  %428 = phi i64 [ 0, %116 ], [ %443, %427 ]
  %429 = phi i64 [ 0, %116 ], [ %444, %427 ]
  %430 = load ptr, ptr %35, align 8
  %431 = getelementptr inbounds %struct.tensor, ptr %430, i64 %428
  store ptr null, ptr %431, align 8
  %432 = getelementptr inbounds i8, ptr %431, i64 8
  store i32 1, ptr %432, align 8
  %433 = getelementptr inbounds i8, ptr %431, i64 12
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(10) %433, i8 0, i64 10, i1 false)
  %434 = getelementptr inbounds i8, ptr %431, i64 22
  store i16 1, ptr %434, align 2
  %435 = getelementptr inbounds i8, ptr %431, i64 24
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(24) %435, i8 0, i64 24, i1 false)
  %436 = or i64 %428, 1
  %437 = load ptr, ptr %35, align 8
  %438 = getelementptr inbounds %struct.tensor, ptr %437, i64 %436
  store ptr null, ptr %438, align 8
  %439 = getelementptr inbounds i8, ptr %438, i64 8
  store i32 1, ptr %439, align 8
  %440 = getelementptr inbounds i8, ptr %438, i64 12
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(10) %440, i8 0, i64 10, i1 false)
  %441 = getelementptr inbounds i8, ptr %438, i64 22
  store i16 1, ptr %441, align 2
  %442 = getelementptr inbounds i8, ptr %438, i64 24
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(24) %442, i8 0, i64 24, i1 false)
  %443 = add nuw nsw i64 %428, 2
  %444 = add i64 %429, 2
  %445 = icmp eq i64 %444, %117
  br i1 %445, label %118, label %427, !llvm.loop !29
}

; Function Attrs: nofree nounwind memory(readwrite, inaccessiblemem: none)
define i64 @model_selftest_bytes() local_unnamed_addr #10 {
  %1 = alloca [2048 x i64], align 16
  %2 = load atomic i32, ptr @chosen acquire, align 4
  %3 = icmp eq i32 %2, 0
  %4 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %5 = zext i32 %4 to i64
  %6 = getelementptr inbounds i8, ptr @model_plan, i64 %5
  %7 = add i32 %2, -1
  %8 = zext i32 %7 to i64
  %9 = getelementptr inbounds %struct.plan_code, ptr %6, i64 %8
  %10 = select i1 %3, ptr null, ptr %9
  call void @llvm.lifetime.start.p0(i64 16384, ptr nonnull %1) #18
  br i1 %3, label %69, label %11

11:                                               ; preds = %0
  %12 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 18), align 4
  %13 = zext i32 %12 to i64
  %14 = getelementptr inbounds i8, ptr @model_plan, i64 %13
  %15 = getelementptr inbounds %struct.plan_code, ptr %10, i64 0, i32 13
  %16 = load i32, ptr %15, align 8
  %17 = getelementptr inbounds %struct.plan_code, ptr %10, i64 0, i32 14
  %18 = load i32, ptr %17, align 4
  %19 = call fastcc i32 @fill_numbers(ptr noundef nonnull %14, i32 noundef %16, i32 noundef %18, ptr noundef nonnull %1) #17
  %20 = icmp eq i32 %19, 0
  br i1 %20, label %23, label %21

21:                                               ; preds = %11
  %22 = sext i32 %19 to i64
  br label %69

23:                                               ; preds = %11
  %24 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %25 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %26 = add i32 %25, %24
  %27 = zext i32 %26 to i64
  %28 = shl nuw nsw i64 %27, 4
  %29 = add nuw nsw i64 %28, 63
  %30 = and i64 %29, 137438953408
  %31 = icmp eq i32 %26, 0
  br i1 %31, label %65, label %32

32:                                               ; preds = %23
  %33 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 5), align 4
  %34 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  br label %35

35:                                               ; preds = %60, %32
  %36 = phi i32 [ 0, %32 ], [ %63, %60 ]
  %37 = phi i64 [ %30, %32 ], [ %62, %60 ]
  %38 = icmp ugt i32 %24, %36
  %39 = select i1 %38, i32 0, i32 %24
  %40 = sub i32 %36, %39
  %41 = select i1 %38, i32 %34, i32 %33
  %42 = zext i32 %41 to i64
  %43 = getelementptr inbounds i8, ptr @model_plan, i64 %42
  %44 = zext i32 %40 to i64
  %45 = getelementptr inbounds %struct.plan_tensor, ptr %43, i64 %44
  %46 = getelementptr inbounds %struct.plan_tensor, ptr %45, i64 0, i32 9
  %47 = load i64, ptr %46, align 8
  %48 = icmp slt i64 %47, 0
  br i1 %48, label %49, label %53

49:                                               ; preds = %35
  %50 = xor i64 %47, -1
  %51 = getelementptr inbounds i64, ptr %1, i64 %50
  %52 = load i64, ptr %51, align 8
  br label %53

53:                                               ; preds = %49, %35
  %54 = phi i64 [ %52, %49 ], [ %47, %35 ]
  %55 = icmp sgt i64 %54, 9223372036854775743
  br i1 %55, label %60, label %56

56:                                               ; preds = %53
  %57 = add nsw i64 %54, 63
  %58 = sdiv i64 %57, 64
  %59 = shl nsw i64 %58, 6
  br label %60

60:                                               ; preds = %56, %53
  %61 = phi i64 [ %59, %56 ], [ 9223372036854775807, %53 ]
  %62 = add nsw i64 %61, %37
  %63 = add nuw i32 %36, 1
  %64 = icmp eq i32 %63, %26
  br i1 %64, label %65, label %35, !llvm.loop !30

65:                                               ; preds = %60, %23
  %66 = phi i64 [ %30, %23 ], [ %62, %60 ]
  %67 = call fastcc i64 @workspace_bytes(ptr noundef nonnull %10, ptr noundef nonnull %1, i32 noundef 1) #17
  %68 = add nsw i64 %67, %66
  br label %69

69:                                               ; preds = %21, %65, %0
  %70 = phi i64 [ -8, %0 ], [ %22, %21 ], [ %68, %65 ]
  call void @llvm.lifetime.end.p0(i64 16384, ptr nonnull %1) #18
  ret i64 %70
}

; Function Attrs: nounwind
define i32 @model_selftest(ptr %0, i64 %1, ptr noundef writeonly %2) local_unnamed_addr #0 {
  %4 = alloca %struct.run, align 8
  %5 = load atomic i32, ptr @chosen acquire, align 4
  %6 = icmp eq i32 %5, 0
  %7 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 1), align 4
  %8 = zext i32 %7 to i64
  %9 = getelementptr inbounds i8, ptr @model_plan, i64 %8
  %10 = add i32 %5, -1
  %11 = zext i32 %10 to i64
  %12 = getelementptr inbounds %struct.plan_code, ptr %9, i64 %11
  %13 = select i1 %6, ptr null, ptr %12
  br i1 %6, label %94, label %14

14:                                               ; preds = %3
  %15 = icmp eq ptr %0, null
  br i1 %15, label %94, label %16

16:                                               ; preds = %14
  %17 = ptrtoint ptr %0 to i64
  %18 = and i64 %17, 63
  %19 = icmp eq i64 %18, 0
  br i1 %19, label %20, label %94

20:                                               ; preds = %16
  %21 = tail call i64 @model_selftest_bytes() #17
  %22 = icmp ugt i64 %21, %1
  br i1 %22, label %94, label %23

23:                                               ; preds = %20
  %24 = getelementptr inbounds %struct.plan_code, ptr %13, i64 0, i32 12
  %25 = load i32, ptr %24, align 4
  %26 = icmp eq i32 %25, 0
  br i1 %26, label %94, label %27

27:                                               ; preds = %23
  %28 = getelementptr inbounds %struct.plan_code, ptr %13, i64 0, i32 11
  %29 = load i32, ptr %28, align 8
  %30 = zext i32 %29 to i64
  %31 = getelementptr inbounds i8, ptr @model_plan, i64 %30
  call void @llvm.lifetime.start.p0(i64 88, ptr nonnull %4) #18
  store ptr %13, ptr %4, align 8
  %32 = getelementptr inbounds %struct.run, ptr %4, i64 0, i32 1
  %33 = getelementptr inbounds %struct.run, ptr %4, i64 0, i32 2
  %34 = getelementptr inbounds %struct.run, ptr %4, i64 0, i32 4
  store ptr null, ptr %34, align 8
  %35 = getelementptr inbounds %struct.run, ptr %4, i64 0, i32 5
  store ptr null, ptr %35, align 8
  %36 = getelementptr inbounds %struct.run, ptr %4, i64 0, i32 6
  store ptr null, ptr %36, align 8
  %37 = getelementptr inbounds %struct.run, ptr %4, i64 0, i32 7
  store ptr null, ptr %37, align 8
  %38 = getelementptr inbounds %struct.run, ptr %4, i64 0, i32 8
  store ptr null, ptr %38, align 8
  %39 = getelementptr inbounds %struct.run, ptr %4, i64 0, i32 9
  store ptr %31, ptr %39, align 8
  %40 = getelementptr inbounds %struct.run, ptr %4, i64 0, i32 10
  %41 = zext i32 %25 to i64
  %42 = getelementptr inbounds %struct.plan_golden, ptr %31, i64 %41
  store ptr %42, ptr %40, align 8
  %43 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 7), align 4
  %44 = zext i32 %43 to i64
  %45 = getelementptr inbounds %struct.plan_code, ptr %13, i64 0, i32 14
  %46 = load i32, ptr %45, align 4
  %47 = zext i32 %46 to i64
  %48 = add nuw nsw i64 %47, %44
  %49 = shl nuw nsw i64 %48, 3
  %50 = add nuw nsw i64 %49, 63
  %51 = and i64 %50, 137438953408
  %52 = icmp ugt i64 %51, %1
  br i1 %52, label %92, label %53

53:                                               ; preds = %27
  %54 = getelementptr inbounds %struct.run, ptr %4, i64 0, i32 3
  %55 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 18), align 4
  %56 = zext i32 %55 to i64
  %57 = getelementptr inbounds i8, ptr @model_plan, i64 %56
  store ptr %0, ptr %54, align 8
  %58 = getelementptr inbounds %struct.plan_code, ptr %13, i64 0, i32 13
  %59 = load i32, ptr %58, align 8
  %60 = tail call fastcc i32 @fill_numbers(ptr noundef nonnull %57, i32 noundef %59, i32 noundef %46, ptr noundef nonnull %0) #17
  %61 = icmp eq i32 %60, 0
  br i1 %61, label %62, label %92

62:                                               ; preds = %53
  %63 = tail call fastcc i64 @workspace_bytes(ptr noundef nonnull %13, ptr noundef nonnull %0, i32 noundef 1) #17
  %64 = icmp ugt i64 %63, %1
  br i1 %64, label %92, label %65

65:                                               ; preds = %62
  %66 = tail call fastcc i64 @workspace_bytes(ptr noundef nonnull %13, ptr noundef nonnull %0, i32 noundef 1) #17
  %67 = getelementptr inbounds i8, ptr %0, i64 %66
  %68 = tail call fastcc ptr @place_tensors(ptr noundef nonnull %67, ptr noundef nonnull %0) #17
  store ptr %67, ptr %32, align 8
  %69 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %70 = zext i32 %69 to i64
  %71 = getelementptr inbounds %struct.model_buffer, ptr %67, i64 %70
  store ptr %71, ptr %33, align 8
  %72 = call fastcc i32 @run_model(ptr noundef nonnull %4, ptr noundef nonnull %0, ptr noundef null) #17
  %73 = icmp eq ptr %2, null
  br i1 %73, label %92, label %74

74:                                               ; preds = %65
  %75 = load i32, ptr %24, align 4
  %76 = load ptr, ptr %39, align 8
  %77 = ptrtoint ptr %76 to i64
  %78 = ptrtoint ptr %31 to i64
  %79 = sub i64 %77, %78
  %80 = lshr exact i64 %79, 5
  %81 = trunc i64 %80 to i32
  %82 = icmp eq i32 %72, -13
  br i1 %82, label %83, label %88

83:                                               ; preds = %74
  %84 = getelementptr inbounds %struct.plan_golden, ptr %76, i64 0, i32 2
  %85 = load i32, ptr %84, align 8
  %86 = zext i32 %85 to i64
  %87 = getelementptr inbounds i8, ptr @model_plan, i64 %86
  br label %88

88:                                               ; preds = %74, %83
  %89 = phi ptr [ %87, %83 ], [ null, %74 ]
  store i32 %75, ptr %2, align 8
  %90 = getelementptr inbounds i8, ptr %2, i64 4
  store i32 %81, ptr %90, align 4
  %91 = getelementptr inbounds i8, ptr %2, i64 8
  store ptr %89, ptr %91, align 8
  br label %92

92:                                               ; preds = %62, %53, %27, %65, %88
  %93 = phi i32 [ %72, %88 ], [ %72, %65 ], [ %60, %53 ], [ -4, %27 ], [ -4, %62 ]
  call void @llvm.lifetime.end.p0(i64 88, ptr nonnull %4) #18
  br label %94

94:                                               ; preds = %23, %20, %16, %14, %3, %92
  %95 = phi i32 [ %93, %92 ], [ -8, %3 ], [ -1, %14 ], [ -3, %16 ], [ -4, %20 ], [ -14, %23 ]
  ret i32 %95
}

; Function Attrs: nofree norecurse nosync nounwind memory(write, argmem: readwrite, inaccessiblemem: none)
define internal fastcc ptr @place_tensors(ptr noundef returned %0, ptr nocapture noundef readonly %1) unnamed_addr #13 {
  %3 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %4 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %5 = add i32 %4, %3
  %6 = icmp eq i32 %5, 0
  br i1 %6, label %16, label %7

7:                                                ; preds = %2
  %8 = zext i32 %5 to i64
  %9 = shl nuw nsw i64 %8, 4
  %10 = add nuw nsw i64 %9, 63
  %11 = and i64 %10, 137438953408
  %12 = getelementptr inbounds i8, ptr %0, i64 %11
  %13 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 5), align 4
  %14 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %15 = zext i32 %3 to i64
  br label %17

16:                                               ; preds = %127, %2
  ret ptr %0

17:                                               ; preds = %7, %127
  %18 = phi i64 [ 0, %7 ], [ %130, %127 ]
  %19 = phi ptr [ %12, %7 ], [ %129, %127 ]
  %20 = icmp ult i64 %18, %15
  %21 = select i1 %20, i32 0, i32 %3
  %22 = trunc i64 %18 to i32
  %23 = sub i32 %22, %21
  %24 = select i1 %20, i32 %14, i32 %13
  %25 = zext i32 %24 to i64
  %26 = getelementptr inbounds i8, ptr @model_plan, i64 %25
  %27 = zext i32 %23 to i64
  %28 = getelementptr inbounds %struct.plan_tensor, ptr %26, i64 %27
  %29 = getelementptr inbounds %struct.plan_tensor, ptr %28, i64 0, i32 9
  %30 = load i64, ptr %29, align 8
  %31 = icmp slt i64 %30, 0
  br i1 %31, label %32, label %36

32:                                               ; preds = %17
  %33 = xor i64 %30, -1
  %34 = getelementptr inbounds i64, ptr %1, i64 %33
  %35 = load i64, ptr %34, align 8
  br label %36

36:                                               ; preds = %17, %32
  %37 = phi i64 [ %35, %32 ], [ %30, %17 ]
  %38 = getelementptr inbounds %struct.model_buffer, ptr %0, i64 %18
  store ptr %19, ptr %38, align 8
  %39 = getelementptr inbounds i8, ptr %38, i64 8
  store i64 %37, ptr %39, align 8
  br i1 %20, label %40, label %121

40:                                               ; preds = %36
  %41 = getelementptr inbounds %struct.plan_tensor, ptr %28, i64 0, i32 4
  %42 = load i32, ptr %41, align 8
  %43 = zext i32 %42 to i64
  %44 = sdiv i64 %37, %43
  %45 = getelementptr inbounds %struct.plan_tensor, ptr %28, i64 0, i32 1
  %46 = load i32, ptr %45, align 4
  %47 = zext i32 %46 to i64
  %48 = getelementptr inbounds i8, ptr @model_plan, i64 %47
  %49 = getelementptr inbounds %struct.plan_tensor, ptr %28, i64 0, i32 6
  %50 = load double, ptr %49, align 8
  %51 = fcmp une double %50, 0.000000e+00
  %52 = select i1 %51, double %50, double 1.562500e-02
  %53 = icmp sgt i64 %44, 0
  br i1 %53, label %54, label %121

54:                                               ; preds = %40
  %55 = shl nuw i64 %18, 32
  %56 = load i8, ptr %48, align 1
  %57 = icmp eq i8 %56, 0
  br label %58

58:                                               ; preds = %118, %54
  %59 = phi i64 [ 0, %54 ], [ %119, %118 ]
  %60 = add i64 %59, %55
  %61 = mul i64 %60, -7046029254386353131
  %62 = add i64 %61, -7046029254386353131
  %63 = lshr i64 %62, 29
  %64 = xor i64 %63, %62
  %65 = mul i64 %64, -4658895280553007687
  %66 = lshr i64 %65, 56
  br i1 %57, label %78, label %67

67:                                               ; preds = %58, %73
  %68 = phi i8 [ %76, %73 ], [ %56, %58 ]
  %69 = phi ptr [ %75, %73 ], [ @.str.18, %58 ]
  %70 = phi ptr [ %74, %73 ], [ %48, %58 ]
  %71 = load i8, ptr %69, align 1
  %72 = icmp eq i8 %68, %71
  br i1 %72, label %73, label %78

73:                                               ; preds = %67
  %74 = getelementptr inbounds i8, ptr %70, i64 1
  %75 = getelementptr inbounds i8, ptr %69, i64 1
  %76 = load i8, ptr %74, align 1
  %77 = icmp eq i8 %76, 0
  br i1 %77, label %78, label %67, !llvm.loop !2

78:                                               ; preds = %73, %67, %58
  %79 = phi ptr [ @.str.18, %58 ], [ %75, %73 ], [ %69, %67 ]
  %80 = phi i8 [ 0, %58 ], [ 0, %73 ], [ %68, %67 ]
  %81 = load i8, ptr %79, align 1
  %82 = icmp eq i8 %80, %81
  br i1 %82, label %83, label %89

83:                                               ; preds = %78
  %84 = uitofp i64 %66 to double
  %85 = fadd double %84, -1.280000e+02
  %86 = fmul double %52, %85
  %87 = fptrunc double %86 to float
  %88 = getelementptr inbounds float, ptr %19, i64 %59
  store float %87, ptr %88, align 4
  br label %118

89:                                               ; preds = %78
  switch i32 %42, label %118 [
    i32 8, label %90
    i32 4, label %93
    i32 1, label %97
  ]

90:                                               ; preds = %89
  %91 = and i64 %66, 1
  %92 = getelementptr inbounds i64, ptr %19, i64 %59
  store i64 %91, ptr %92, align 8
  br label %118

93:                                               ; preds = %89
  %94 = trunc i64 %66 to i32
  %95 = and i32 %94, 1
  %96 = getelementptr inbounds i32, ptr %19, i64 %59
  store i32 %95, ptr %96, align 4
  br label %118

97:                                               ; preds = %89
  br i1 %57, label %109, label %98

98:                                               ; preds = %97, %104
  %99 = phi i8 [ %107, %104 ], [ %56, %97 ]
  %100 = phi ptr [ %106, %104 ], [ @.str.19, %97 ]
  %101 = phi ptr [ %105, %104 ], [ %48, %97 ]
  %102 = load i8, ptr %100, align 1
  %103 = icmp eq i8 %99, %102
  br i1 %103, label %104, label %109

104:                                              ; preds = %98
  %105 = getelementptr inbounds i8, ptr %101, i64 1
  %106 = getelementptr inbounds i8, ptr %100, i64 1
  %107 = load i8, ptr %105, align 1
  %108 = icmp eq i8 %107, 0
  br i1 %108, label %109, label %98, !llvm.loop !2

109:                                              ; preds = %104, %98, %97
  %110 = phi ptr [ @.str.19, %97 ], [ %106, %104 ], [ %100, %98 ]
  %111 = phi i8 [ 0, %97 ], [ 0, %104 ], [ %99, %98 ]
  %112 = load i8, ptr %110, align 1
  %113 = icmp eq i8 %111, %112
  %114 = and i64 %66, 1
  %115 = select i1 %113, i64 %114, i64 %66
  %116 = trunc i64 %115 to i8
  %117 = getelementptr inbounds i8, ptr %19, i64 %59
  store i8 %116, ptr %117, align 1
  br label %118

118:                                              ; preds = %109, %93, %90, %89, %83
  %119 = add nuw nsw i64 %59, 1
  %120 = icmp eq i64 %119, %44
  br i1 %120, label %121, label %58, !llvm.loop !31

121:                                              ; preds = %118, %40, %36
  %122 = icmp sgt i64 %37, 9223372036854775743
  br i1 %122, label %127, label %123

123:                                              ; preds = %121
  %124 = add nsw i64 %37, 63
  %125 = sdiv i64 %124, 64
  %126 = shl nsw i64 %125, 6
  br label %127

127:                                              ; preds = %121, %123
  %128 = phi i64 [ %126, %123 ], [ 9223372036854775807, %121 ]
  %129 = getelementptr inbounds i8, ptr %19, i64 %128
  %130 = add nuw nsw i64 %18, 1
  %131 = icmp eq i64 %130, %8
  br i1 %131, label %16, label %17, !llvm.loop !32
}

declare extern_weak i32 @pthread_join(i64 noundef, ptr noundef) #5

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare nonnull ptr @llvm.threadlocal.address.p0(ptr nonnull) #14

; Function Attrs: nounwind
define internal void @run_task(ptr noundef %0, i32 noundef %1) #0 {
  %3 = tail call align 8 ptr @llvm.threadlocal.address.p0(ptr align 8 @current)
  %4 = load ptr, ptr %3, align 8
  %5 = load ptr, ptr %0, align 8
  %6 = getelementptr inbounds %struct.context, ptr %5, i64 0, i32 3
  %7 = load ptr, ptr %6, align 8
  %8 = zext i32 %1 to i64
  %9 = getelementptr inbounds %struct.context, ptr %7, i64 %8
  %10 = getelementptr inbounds %struct.context, ptr %5, i64 0, i32 2
  %11 = load ptr, ptr %10, align 8
  %12 = getelementptr inbounds %struct.context, ptr %5, i64 0, i32 4
  %13 = load i64, ptr %12, align 8
  %14 = mul nsw i64 %13, %8
  %15 = getelementptr inbounds i8, ptr %11, i64 %14
  store ptr %15, ptr %9, align 8
  %16 = load ptr, ptr %0, align 8
  %17 = getelementptr inbounds %struct.context, ptr %16, i64 0, i32 4
  %18 = load i64, ptr %17, align 8
  %19 = getelementptr inbounds i8, ptr %15, i64 %18
  %20 = getelementptr inbounds %struct.context, ptr %7, i64 %8, i32 1
  store ptr %19, ptr %20, align 8
  %21 = getelementptr inbounds %struct.context, ptr %7, i64 %8, i32 2
  store ptr null, ptr %21, align 8
  store ptr %9, ptr %3, align 8
  %22 = getelementptr inbounds %struct.loop, ptr %0, i64 0, i32 1
  %23 = load ptr, ptr %22, align 8
  %24 = getelementptr inbounds %struct.loop, ptr %0, i64 0, i32 3
  %25 = getelementptr inbounds %struct.loop, ptr %0, i64 0, i32 2
  %26 = load ptr, ptr %25, align 8
  %27 = tail call i32 %23(i32 noundef %1, ptr noundef nonnull %24, ptr noundef %26) #20
  %28 = icmp eq i32 %27, 0
  br i1 %28, label %31, label %29

29:                                               ; preds = %2
  %30 = getelementptr inbounds %struct.loop, ptr %0, i64 0, i32 4
  store atomic i32 1, ptr %30 monotonic, align 8
  br label %31

31:                                               ; preds = %29, %2
  store ptr %4, ptr %3, align 8
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare { i64, i1 } @llvm.sadd.with.overflow.i64(i64, i64) #14

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare { i64, i1 } @llvm.ssub.with.overflow.i64(i64, i64) #14

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare { i64, i1 } @llvm.smul.with.overflow.i64(i64, i64) #14

; Function Attrs: nofree nosync nounwind memory(argmem: read)
define internal fastcc i64 @copies_bytes(ptr nocapture noundef readonly %0) unnamed_addr #11 {
  %2 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 13), align 4
  %3 = icmp ne i32 %2, 0
  %4 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %5 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 6), align 4
  %6 = add i32 %5, %4
  %7 = icmp ne i32 %6, 0
  %8 = select i1 %3, i1 %7, i1 false
  br i1 %8, label %9, label %15

9:                                                ; preds = %1
  %10 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 5), align 4
  %11 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 3), align 4
  %12 = add i32 %2, -1
  %13 = zext i32 %12 to i64
  %14 = getelementptr inbounds i64, ptr %0, i64 %13
  br label %17

15:                                               ; preds = %131, %1
  %16 = phi i64 [ 0, %1 ], [ %132, %131 ]
  ret i64 %16

17:                                               ; preds = %9, %131
  %18 = phi i32 [ 0, %9 ], [ %133, %131 ]
  %19 = phi i64 [ 0, %9 ], [ %132, %131 ]
  %20 = icmp ugt i32 %4, %18
  %21 = select i1 %20, i32 0, i32 %4
  %22 = sub i32 %18, %21
  %23 = select i1 %20, i32 %11, i32 %10
  %24 = zext i32 %23 to i64
  %25 = getelementptr inbounds i8, ptr @model_plan, i64 %24
  %26 = zext i32 %22 to i64
  %27 = getelementptr inbounds %struct.plan_tensor, ptr %25, i64 %26
  %28 = getelementptr inbounds %struct.plan_tensor, ptr %27, i64 0, i32 5
  %29 = load i32, ptr %28, align 4
  switch i32 %29, label %30 [
    i32 0, label %131
    i32 1, label %84
  ]

30:                                               ; preds = %17
  %31 = add i32 %29, -1
  %32 = zext i32 %31 to i64
  %33 = and i64 %32, 1
  %34 = icmp eq i32 %31, 1
  br i1 %34, label %65, label %35

35:                                               ; preds = %30
  %36 = and i64 %32, 4294967294
  br label %37

37:                                               ; preds = %60, %35
  %38 = phi i64 [ 0, %35 ], [ %52, %60 ]
  %39 = phi i64 [ 1, %35 ], [ %62, %60 ]
  %40 = phi i64 [ 0, %35 ], [ %63, %60 ]
  %41 = or i64 %38, 1
  %42 = getelementptr inbounds %struct.plan_tensor, ptr %27, i64 0, i32 8, i64 %38
  %43 = load i64, ptr %42, align 8
  %44 = icmp slt i64 %43, 0
  br i1 %44, label %45, label %49

45:                                               ; preds = %37
  %46 = xor i64 %43, -1
  %47 = getelementptr inbounds i64, ptr %0, i64 %46
  %48 = load i64, ptr %47, align 8
  br label %49

49:                                               ; preds = %45, %37
  %50 = phi i64 [ %48, %45 ], [ %43, %37 ]
  %51 = mul nsw i64 %50, %39
  %52 = add nuw nsw i64 %38, 2
  %53 = getelementptr inbounds %struct.plan_tensor, ptr %27, i64 0, i32 8, i64 %41
  %54 = load i64, ptr %53, align 8
  %55 = icmp slt i64 %54, 0
  br i1 %55, label %56, label %60

56:                                               ; preds = %49
  %57 = xor i64 %54, -1
  %58 = getelementptr inbounds i64, ptr %0, i64 %57
  %59 = load i64, ptr %58, align 8
  br label %60

60:                                               ; preds = %56, %49
  %61 = phi i64 [ %59, %56 ], [ %54, %49 ]
  %62 = mul nsw i64 %61, %51
  %63 = add i64 %40, 2
  %64 = icmp eq i64 %63, %36
  br i1 %64, label %65, label %37, !llvm.loop !25

65:                                               ; preds = %60, %30
  %66 = phi i64 [ undef, %30 ], [ %62, %60 ]
  %67 = phi i64 [ 0, %30 ], [ %52, %60 ]
  %68 = phi i64 [ 1, %30 ], [ %62, %60 ]
  %69 = icmp eq i64 %33, 0
  br i1 %69, label %81, label %70

70:                                               ; preds = %65
  %71 = getelementptr inbounds %struct.plan_tensor, ptr %27, i64 0, i32 8, i64 %67
  %72 = load i64, ptr %71, align 8
  %73 = icmp slt i64 %72, 0
  br i1 %73, label %74, label %78

74:                                               ; preds = %70
  %75 = xor i64 %72, -1
  %76 = getelementptr inbounds i64, ptr %0, i64 %75
  %77 = load i64, ptr %76, align 8
  br label %78

78:                                               ; preds = %74, %70
  %79 = phi i64 [ %77, %74 ], [ %72, %70 ]
  %80 = mul nsw i64 %79, %68
  br label %81

81:                                               ; preds = %65, %78
  %82 = phi i64 [ %66, %65 ], [ %80, %78 ]
  %83 = icmp eq i64 %82, 1
  br i1 %83, label %84, label %105

84:                                               ; preds = %17, %81
  %85 = load i64, ptr %14, align 8
  %86 = icmp eq i64 %85, 0
  br i1 %86, label %98, label %87

87:                                               ; preds = %84
  %88 = getelementptr inbounds %struct.plan_tensor, ptr %27, i64 0, i32 9
  %89 = load i64, ptr %88, align 8
  %90 = icmp slt i64 %89, 0
  br i1 %90, label %91, label %95

91:                                               ; preds = %87
  %92 = xor i64 %89, -1
  %93 = getelementptr inbounds i64, ptr %0, i64 %92
  %94 = load i64, ptr %93, align 8
  br label %95

95:                                               ; preds = %91, %87
  %96 = phi i64 [ %94, %91 ], [ %89, %87 ]
  %97 = sdiv i64 %96, %85
  br label %98

98:                                               ; preds = %84, %95
  %99 = phi i64 [ %97, %95 ], [ 0, %84 ]
  %100 = getelementptr inbounds %struct.plan_tensor, ptr %27, i64 0, i32 3
  %101 = load i32, ptr %100, align 4
  %102 = zext i32 %101 to i64
  %103 = srem i64 %99, %102
  %104 = icmp eq i64 %103, 0
  br i1 %104, label %131, label %105

105:                                              ; preds = %98, %81
  %106 = load i64, ptr %14, align 8
  %107 = icmp eq i64 %106, 0
  br i1 %107, label %120, label %108

108:                                              ; preds = %105
  %109 = getelementptr inbounds %struct.plan_tensor, ptr %27, i64 0, i32 9
  %110 = load i64, ptr %109, align 8
  %111 = icmp slt i64 %110, 0
  br i1 %111, label %112, label %116

112:                                              ; preds = %108
  %113 = xor i64 %110, -1
  %114 = getelementptr inbounds i64, ptr %0, i64 %113
  %115 = load i64, ptr %114, align 8
  br label %116

116:                                              ; preds = %108, %112
  %117 = phi i64 [ %115, %112 ], [ %110, %108 ]
  %118 = sdiv i64 %117, %106
  %119 = icmp sgt i64 %118, 9223372036854775743
  br i1 %119, label %125, label %120

120:                                              ; preds = %105, %116
  %121 = phi i64 [ %118, %116 ], [ 0, %105 ]
  %122 = add nsw i64 %121, 63
  %123 = sdiv i64 %122, 64
  %124 = shl nsw i64 %123, 6
  br label %125

125:                                              ; preds = %116, %120
  %126 = phi i64 [ %124, %120 ], [ 9223372036854775807, %116 ]
  %127 = tail call { i64, i1 } @llvm.sadd.with.overflow.i64(i64 %19, i64 %126)
  %128 = extractvalue { i64, i1 } %127, 1
  %129 = extractvalue { i64, i1 } %127, 0
  %130 = select i1 %128, i64 9223372036854775807, i64 %129
  br label %131

131:                                              ; preds = %17, %98, %125
  %132 = phi i64 [ %130, %125 ], [ %19, %98 ], [ %19, %17 ]
  %133 = add nuw i32 %18, 1
  %134 = icmp ugt i32 %6, %133
  br i1 %134, label %17, label %15, !llvm.loop !33
}

; Function Attrs: nounwind
define internal fastcc i32 @run_steps(ptr nocapture noundef %0) unnamed_addr #0 {
  %2 = alloca %struct.argument, align 8
  %3 = load ptr, ptr %0, align 8
  %4 = getelementptr inbounds %struct.plan_code, ptr %3, i64 0, i32 2
  %5 = load i32, ptr %4, align 8
  %6 = zext i32 %5 to i64
  %7 = getelementptr inbounds i8, ptr @model_plan, i64 %6
  %8 = getelementptr inbounds %struct.plan_code, ptr %3, i64 0, i32 3
  %9 = load i32, ptr %8, align 4
  %10 = zext i32 %9 to i64
  %11 = getelementptr inbounds i32, ptr %7, i64 %10
  %12 = icmp eq i32 %9, 0
  br i1 %12, label %366, label %13

13:                                               ; preds = %1
  %14 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 4
  %15 = load i32, ptr getelementptr inbounds (%struct.plan, ptr @model_plan, i64 0, i32 4), align 4
  %16 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 2
  %17 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 1
  %18 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 3
  %19 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 6
  %20 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 7
  %21 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 5
  %22 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 8
  %23 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 9
  %24 = getelementptr inbounds %struct.run, ptr %0, i64 0, i32 10
  br label %25

25:                                               ; preds = %13, %364
  %26 = phi i32 [ 0, %13 ], [ %233, %364 ]
  %27 = phi ptr [ %7, %13 ], [ %232, %364 ]
  %28 = load i32, ptr %27, align 4
  %29 = icmp eq i32 %28, 0
  %30 = getelementptr inbounds i32, ptr %27, i64 1
  %31 = load ptr, ptr %0, align 8
  br i1 %29, label %32, label %150

32:                                               ; preds = %25
  %33 = getelementptr inbounds %struct.plan_code, ptr %31, i64 0, i32 5
  %34 = load i32, ptr %33, align 4
  %35 = zext i32 %34 to i64
  %36 = getelementptr inbounds i8, ptr @model_plan, i64 %35
  %37 = load i32, ptr %30, align 4
  %38 = zext i32 %37 to i64
  %39 = getelementptr inbounds i32, ptr %36, i64 %38
  %40 = getelementptr inbounds %struct.plan_code, ptr %31, i64 0, i32 4
  %41 = load i32, ptr %40, align 8
  %42 = zext i32 %41 to i64
  %43 = getelementptr inbounds i8, ptr @model_plan, i64 %42
  %44 = load i32, ptr %39, align 4
  call void @llvm.lifetime.start.p0(i64 16, ptr nonnull %2) #18
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 8 dereferenceable(16) %2, i8 0, i64 16, i1 false)
  %45 = getelementptr inbounds i32, ptr %27, i64 2
  %46 = load i32, ptr %45, align 4
  %47 = icmp eq i32 %46, 0
  br i1 %47, label %139, label %48

48:                                               ; preds = %32
  %49 = zext i32 %46 to i64
  br label %50

50:                                               ; preds = %136, %48
  %51 = phi i64 [ 0, %48 ], [ %137, %136 ]
  %52 = add nuw nsw i64 %51, 2
  %53 = and i64 %52, 4294967295
  %54 = getelementptr inbounds i32, ptr %30, i64 %53
  %55 = load i32, ptr %54, align 4
  %56 = zext i32 %55 to i64
  %57 = getelementptr inbounds %struct.plan_place, ptr %43, i64 %56
  %58 = load ptr, ptr %19, align 8
  %59 = load ptr, ptr %20, align 8
  %60 = getelementptr inbounds %struct.argument, ptr %59, i64 %51
  %61 = load i32, ptr %57, align 8
  %62 = icmp eq i32 %61, 2
  br i1 %62, label %63, label %75

63:                                               ; preds = %50
  store i32 1, ptr %60, align 8
  %64 = getelementptr inbounds %struct.plan_place, ptr %43, i64 %56, i32 7
  %65 = load i64, ptr %64, align 8
  %66 = icmp slt i64 %65, 0
  br i1 %66, label %67, label %72

67:                                               ; preds = %63
  %68 = load ptr, ptr %18, align 8
  %69 = xor i64 %65, -1
  %70 = getelementptr inbounds i64, ptr %68, i64 %69
  %71 = load i64, ptr %70, align 8
  br label %72

72:                                               ; preds = %67, %63
  %73 = phi i64 [ %71, %67 ], [ %65, %63 ]
  %74 = getelementptr inbounds %struct.argument, ptr %59, i64 %51, i32 2
  store i64 %73, ptr %74, align 8
  br label %136

75:                                               ; preds = %50
  %76 = getelementptr inbounds %struct.tensor, ptr %58, i64 %51
  store i32 7, ptr %60, align 8
  %77 = getelementptr inbounds %struct.argument, ptr %59, i64 %51, i32 2
  store ptr %76, ptr %77, align 8
  switch i32 %61, label %78 [
    i32 0, label %93
    i32 1, label %90
  ]

78:                                               ; preds = %75
  %79 = add i32 %61, -3
  %80 = icmp ult i32 %79, %15
  br i1 %80, label %81, label %85

81:                                               ; preds = %78
  %82 = load ptr, ptr %17, align 8
  %83 = zext i32 %79 to i64
  %84 = getelementptr inbounds %struct.model_buffer, ptr %82, i64 %83
  br label %90

85:                                               ; preds = %78
  %86 = load ptr, ptr %16, align 8
  %87 = sub i32 %79, %15
  %88 = zext i32 %87 to i64
  %89 = getelementptr inbounds %struct.model_buffer, ptr %86, i64 %88
  br label %90

90:                                               ; preds = %85, %81, %75
  %91 = phi ptr [ %89, %85 ], [ %84, %81 ], [ %14, %75 ]
  %92 = load ptr, ptr %91, align 8
  br label %93

93:                                               ; preds = %90, %75
  %94 = phi ptr [ @model_plan, %75 ], [ %92, %90 ]
  %95 = getelementptr inbounds %struct.plan_place, ptr %57, i64 0, i32 7
  %96 = load i64, ptr %95, align 8
  %97 = icmp slt i64 %96, 0
  br i1 %97, label %98, label %103

98:                                               ; preds = %93
  %99 = load ptr, ptr %18, align 8
  %100 = xor i64 %96, -1
  %101 = getelementptr inbounds i64, ptr %99, i64 %100
  %102 = load i64, ptr %101, align 8
  br label %103

103:                                              ; preds = %98, %93
  %104 = phi i64 [ %102, %98 ], [ %96, %93 ]
  %105 = getelementptr inbounds i8, ptr %94, i64 %104
  store ptr %105, ptr %76, align 8
  %106 = getelementptr inbounds %struct.plan_place, ptr %43, i64 %56, i32 1
  %107 = load i16, ptr %106, align 4
  %108 = zext i16 %107 to i32
  %109 = getelementptr inbounds %struct.tensor, ptr %58, i64 %51, i32 3
  store i32 %108, ptr %109, align 8
  %110 = getelementptr inbounds %struct.plan_place, ptr %43, i64 %56, i32 3
  %111 = load i8, ptr %110, align 8
  %112 = getelementptr inbounds %struct.tensor, ptr %58, i64 %51, i32 4
  store i8 %111, ptr %112, align 4
  %113 = getelementptr inbounds %struct.plan_place, ptr %43, i64 %56, i32 4
  %114 = load i8, ptr %113, align 1
  %115 = getelementptr inbounds %struct.tensor, ptr %58, i64 %51, i32 5
  store i8 %114, ptr %115, align 1
  %116 = getelementptr inbounds %struct.plan_place, ptr %43, i64 %56, i32 5
  %117 = load i16, ptr %116, align 2
  %118 = getelementptr inbounds %struct.tensor, ptr %58, i64 %51, i32 6
  store i16 %117, ptr %118, align 2
  %119 = getelementptr inbounds %struct.plan_place, ptr %43, i64 %56, i32 2
  %120 = load i16, ptr %119, align 2
  %121 = icmp eq i16 %120, 0
  br i1 %121, label %128, label %122

122:                                              ; preds = %103
  %123 = load ptr, ptr %18, align 8
  %124 = getelementptr inbounds %struct.plan_place, ptr %43, i64 %56, i32 6
  %125 = load i32, ptr %124, align 4
  %126 = zext i32 %125 to i64
  %127 = getelementptr inbounds i64, ptr %123, i64 %126
  br label %133

128:                                              ; preds = %103
  %129 = getelementptr inbounds %struct.plan_place, ptr %43, i64 %56, i32 6
  %130 = load i32, ptr %129, align 4
  %131 = zext i32 %130 to i64
  %132 = getelementptr inbounds i8, ptr @model_plan, i64 %131
  br label %133

133:                                              ; preds = %128, %122
  %134 = phi ptr [ %127, %122 ], [ %132, %128 ]
  %135 = getelementptr inbounds %struct.tensor, ptr %58, i64 %51, i32 7
  store ptr %134, ptr %135, align 8
  br label %136

136:                                              ; preds = %133, %72
  %137 = add nuw nsw i64 %51, 1
  %138 = icmp eq i64 %137, %49
  br i1 %138, label %139, label %50, !llvm.loop !34

139:                                              ; preds = %136, %32
  %140 = sext i32 %44 to i64
  %141 = getelementptr inbounds i8, ptr %39, i64 %140
  %142 = load ptr, ptr %21, align 8
  %143 = load ptr, ptr %22, align 8
  store ptr %142, ptr %143, align 8
  %144 = load ptr, ptr %20, align 8
  %145 = call i32 %141(ptr noundef null, ptr noundef %144, i32 noundef %46, ptr noundef nonnull %2) #20
  call void @llvm.lifetime.end.p0(i64 16, ptr nonnull %2) #18
  %146 = icmp eq i32 %145, 0
  br i1 %146, label %147, label %366

147:                                              ; preds = %139
  %148 = add i32 %46, 3
  %149 = zext i32 %148 to i64
  br label %230

150:                                              ; preds = %25
  %151 = getelementptr inbounds %struct.plan_code, ptr %31, i64 0, i32 4
  %152 = load i32, ptr %151, align 8
  %153 = zext i32 %152 to i64
  %154 = getelementptr inbounds i8, ptr @model_plan, i64 %153
  %155 = getelementptr inbounds i32, ptr %27, i64 2
  %156 = load i32, ptr %155, align 4
  %157 = zext i32 %156 to i64
  %158 = getelementptr inbounds %struct.plan_place, ptr %154, i64 %157
  %159 = load i32, ptr %158, align 8
  switch i32 %159, label %160 [
    i32 0, label %175
    i32 1, label %172
  ]

160:                                              ; preds = %150
  %161 = add i32 %159, -3
  %162 = icmp ult i32 %161, %15
  br i1 %162, label %163, label %167

163:                                              ; preds = %160
  %164 = load ptr, ptr %17, align 8
  %165 = zext i32 %161 to i64
  %166 = getelementptr inbounds %struct.model_buffer, ptr %164, i64 %165
  br label %172

167:                                              ; preds = %160
  %168 = load ptr, ptr %16, align 8
  %169 = sub i32 %161, %15
  %170 = zext i32 %169 to i64
  %171 = getelementptr inbounds %struct.model_buffer, ptr %168, i64 %170
  br label %172

172:                                              ; preds = %150, %167, %163
  %173 = phi ptr [ %171, %167 ], [ %166, %163 ], [ %14, %150 ]
  %174 = load ptr, ptr %173, align 8
  br label %175

175:                                              ; preds = %172, %150
  %176 = phi ptr [ @model_plan, %150 ], [ %174, %172 ]
  %177 = getelementptr inbounds %struct.plan_place, ptr %158, i64 0, i32 7
  %178 = load i64, ptr %177, align 8
  %179 = icmp slt i64 %178, 0
  br i1 %179, label %180, label %185

180:                                              ; preds = %175
  %181 = load ptr, ptr %18, align 8
  %182 = xor i64 %178, -1
  %183 = getelementptr inbounds i64, ptr %181, i64 %182
  %184 = load i64, ptr %183, align 8
  br label %185

185:                                              ; preds = %180, %175
  %186 = phi i64 [ %184, %180 ], [ %178, %175 ]
  %187 = load i32, ptr %30, align 4
  %188 = zext i32 %187 to i64
  %189 = getelementptr inbounds %struct.plan_place, ptr %154, i64 %188
  %190 = load i32, ptr %189, align 8
  switch i32 %190, label %191 [
    i32 0, label %206
    i32 1, label %203
  ]

191:                                              ; preds = %185
  %192 = add i32 %190, -3
  %193 = icmp ult i32 %192, %15
  br i1 %193, label %194, label %198

194:                                              ; preds = %191
  %195 = load ptr, ptr %17, align 8
  %196 = zext i32 %192 to i64
  %197 = getelementptr inbounds %struct.model_buffer, ptr %195, i64 %196
  br label %203

198:                                              ; preds = %191
  %199 = load ptr, ptr %16, align 8
  %200 = sub i32 %192, %15
  %201 = zext i32 %200 to i64
  %202 = getelementptr inbounds %struct.model_buffer, ptr %199, i64 %201
  br label %203

203:                                              ; preds = %185, %198, %194
  %204 = phi ptr [ %202, %198 ], [ %197, %194 ], [ %14, %185 ]
  %205 = load ptr, ptr %204, align 8
  br label %206

206:                                              ; preds = %203, %185
  %207 = phi ptr [ @model_plan, %185 ], [ %205, %203 ]
  %208 = getelementptr inbounds %struct.plan_place, ptr %189, i64 0, i32 7
  %209 = load i64, ptr %208, align 8
  %210 = icmp slt i64 %209, 0
  br i1 %210, label %211, label %216

211:                                              ; preds = %206
  %212 = load ptr, ptr %18, align 8
  %213 = xor i64 %209, -1
  %214 = getelementptr inbounds i64, ptr %212, i64 %213
  %215 = load i64, ptr %214, align 8
  br label %216

216:                                              ; preds = %211, %206
  %217 = phi i64 [ %215, %211 ], [ %209, %206 ]
  %218 = getelementptr inbounds %struct.plan_place, ptr %154, i64 %188, i32 8
  %219 = load i64, ptr %218, align 8
  %220 = icmp slt i64 %219, 0
  br i1 %220, label %221, label %226

221:                                              ; preds = %216
  %222 = load ptr, ptr %18, align 8
  %223 = xor i64 %219, -1
  %224 = getelementptr inbounds i64, ptr %222, i64 %223
  %225 = load i64, ptr %224, align 8
  br label %226

226:                                              ; preds = %216, %221
  %227 = phi i64 [ %225, %221 ], [ %219, %216 ]
  %228 = getelementptr inbounds i8, ptr %207, i64 %217
  %229 = getelementptr inbounds i8, ptr %176, i64 %186
  call void @llvm.memcpy.p0.p0.i64(ptr align 1 %229, ptr align 1 %228, i64 %227, i1 false)
  br label %230

230:                                              ; preds = %226, %147
  %231 = phi i64 [ 3, %226 ], [ %149, %147 ]
  %232 = getelementptr inbounds i32, ptr %27, i64 %231
  %233 = add i32 %26, 1
  %234 = load ptr, ptr %24, align 8
  %235 = load ptr, ptr %23, align 8
  %236 = icmp ult ptr %235, %234
  br i1 %236, label %237, label %364

237:                                              ; preds = %230, %361
  %238 = phi ptr [ %362, %361 ], [ %235, %230 ]
  %239 = load i32, ptr %238, align 8
  %240 = icmp eq i32 %239, %233
  br i1 %240, label %241, label %364

241:                                              ; preds = %237
  %242 = load ptr, ptr %0, align 8
  %243 = getelementptr inbounds %struct.plan_code, ptr %242, i64 0, i32 4
  %244 = load i32, ptr %243, align 8
  %245 = zext i32 %244 to i64
  %246 = getelementptr inbounds i8, ptr @model_plan, i64 %245
  %247 = getelementptr inbounds %struct.plan_golden, ptr %238, i64 0, i32 1
  %248 = load i32, ptr %247, align 4
  %249 = zext i32 %248 to i64
  %250 = getelementptr inbounds %struct.plan_place, ptr %246, i64 %249
  %251 = load i32, ptr %250, align 8
  switch i32 %251, label %252 [
    i32 0, label %267
    i32 1, label %264
  ]

252:                                              ; preds = %241
  %253 = add i32 %251, -3
  %254 = icmp ult i32 %253, %15
  br i1 %254, label %255, label %259

255:                                              ; preds = %252
  %256 = load ptr, ptr %17, align 8
  %257 = zext i32 %253 to i64
  %258 = getelementptr inbounds %struct.model_buffer, ptr %256, i64 %257
  br label %264

259:                                              ; preds = %252
  %260 = load ptr, ptr %16, align 8
  %261 = sub i32 %253, %15
  %262 = zext i32 %261 to i64
  %263 = getelementptr inbounds %struct.model_buffer, ptr %260, i64 %262
  br label %264

264:                                              ; preds = %241, %259, %255
  %265 = phi ptr [ %263, %259 ], [ %258, %255 ], [ %14, %241 ]
  %266 = load ptr, ptr %265, align 8
  br label %267

267:                                              ; preds = %264, %241
  %268 = phi ptr [ @model_plan, %241 ], [ %266, %264 ]
  %269 = getelementptr inbounds %struct.plan_place, ptr %250, i64 0, i32 7
  %270 = load i64, ptr %269, align 8
  %271 = icmp slt i64 %270, 0
  br i1 %271, label %272, label %277

272:                                              ; preds = %267
  %273 = load ptr, ptr %18, align 8
  %274 = xor i64 %270, -1
  %275 = getelementptr inbounds i64, ptr %273, i64 %274
  %276 = load i64, ptr %275, align 8
  br label %277

277:                                              ; preds = %272, %267
  %278 = phi i64 [ %276, %272 ], [ %270, %267 ]
  %279 = getelementptr inbounds i8, ptr %268, i64 %278
  %280 = getelementptr inbounds %struct.plan_place, ptr %246, i64 %249, i32 8
  %281 = load i64, ptr %280, align 8
  %282 = icmp slt i64 %281, 0
  br i1 %282, label %283, label %288

283:                                              ; preds = %277
  %284 = load ptr, ptr %18, align 8
  %285 = xor i64 %281, -1
  %286 = getelementptr inbounds i64, ptr %284, i64 %285
  %287 = load i64, ptr %286, align 8
  br label %288

288:                                              ; preds = %283, %277
  %289 = phi i64 [ %287, %283 ], [ %281, %277 ]
  %290 = icmp sgt i64 %289, 0
  br i1 %290, label %291, label %352

291:                                              ; preds = %288
  %292 = and i64 %289, 1
  %293 = icmp eq i64 %289, 1
  br i1 %293, label %332, label %294

294:                                              ; preds = %291
  %295 = and i64 %289, -2
  br label %296

296:                                              ; preds = %296, %294
  %297 = phi i64 [ 0, %294 ], [ %329, %296 ]
  %298 = phi i64 [ 0, %294 ], [ %328, %296 ]
  %299 = phi i64 [ 0, %294 ], [ %330, %296 ]
  %300 = getelementptr inbounds i8, ptr %279, i64 %297
  %301 = load i8, ptr %300, align 1
  %302 = zext i8 %301 to i64
  %303 = add nuw nsw i64 %302, 1
  %304 = mul i64 %297, -7046029254386353131
  %305 = add i64 %304, -7046029254386353131
  %306 = lshr i64 %305, 29
  %307 = xor i64 %306, %305
  %308 = mul i64 %307, -4658895280553007687
  %309 = lshr i64 %308, 32
  %310 = xor i64 %309, %308
  %311 = or i64 %310, 1
  %312 = mul i64 %311, %303
  %313 = add i64 %312, %298
  %314 = or i64 %297, 1
  %315 = getelementptr inbounds i8, ptr %279, i64 %314
  %316 = load i8, ptr %315, align 1
  %317 = zext i8 %316 to i64
  %318 = add nuw nsw i64 %317, 1
  %319 = mul i64 %314, -7046029254386353131
  %320 = add i64 %319, -7046029254386353131
  %321 = lshr i64 %320, 29
  %322 = xor i64 %321, %320
  %323 = mul i64 %322, -4658895280553007687
  %324 = lshr i64 %323, 32
  %325 = xor i64 %324, %323
  %326 = or i64 %325, 1
  %327 = mul i64 %326, %318
  %328 = add i64 %327, %313
  %329 = add nuw nsw i64 %297, 2
  %330 = add i64 %299, 2
  %331 = icmp eq i64 %330, %295
  br i1 %331, label %332, label %296, !llvm.loop !35

332:                                              ; preds = %296, %291
  %333 = phi i64 [ undef, %291 ], [ %328, %296 ]
  %334 = phi i64 [ 0, %291 ], [ %329, %296 ]
  %335 = phi i64 [ 0, %291 ], [ %328, %296 ]
  %336 = icmp eq i64 %292, 0
  br i1 %336, label %352, label %337

337:                                              ; preds = %332
  %338 = getelementptr inbounds i8, ptr %279, i64 %334
  %339 = load i8, ptr %338, align 1
  %340 = zext i8 %339 to i64
  %341 = add nuw nsw i64 %340, 1
  %342 = mul i64 %334, -7046029254386353131
  %343 = add i64 %342, -7046029254386353131
  %344 = lshr i64 %343, 29
  %345 = xor i64 %344, %343
  %346 = mul i64 %345, -4658895280553007687
  %347 = lshr i64 %346, 32
  %348 = xor i64 %347, %346
  %349 = or i64 %348, 1
  %350 = mul i64 %349, %341
  %351 = add i64 %350, %335
  br label %352

352:                                              ; preds = %337, %332, %288
  %353 = phi i64 [ 0, %288 ], [ %333, %332 ], [ %351, %337 ]
  %354 = getelementptr inbounds %struct.plan_golden, ptr %238, i64 0, i32 4
  %355 = load i64, ptr %354, align 8
  %356 = icmp eq i64 %353, %355
  br i1 %356, label %361, label %357

357:                                              ; preds = %352
  %358 = getelementptr inbounds %struct.plan_golden, ptr %238, i64 0, i32 4, i64 1
  %359 = load i64, ptr %358, align 8
  %360 = icmp eq i64 %353, %359
  br i1 %360, label %361, label %366

361:                                              ; preds = %352, %357
  %362 = getelementptr inbounds %struct.plan_golden, ptr %238, i64 1
  store ptr %362, ptr %23, align 8
  %363 = icmp ult ptr %362, %234
  br i1 %363, label %237, label %364, !llvm.loop !36

364:                                              ; preds = %237, %361, %230
  %365 = icmp ult ptr %232, %11
  br i1 %365, label %25, label %366, !llvm.loop !37

366:                                              ; preds = %139, %364, %357, %1
  %367 = phi i32 [ 0, %1 ], [ -13, %357 ], [ -10, %139 ], [ 0, %364 ]
  ret i32 %367
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.smax.i64(i64, i64) #15

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.smin.i64(i64, i64) #15

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i64 @llvm.umin.i64(i64, i64) #15

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: read)
declare ptr @llvm.load.relative.i64(ptr, i64) #16

attributes #0 = { nounwind "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #1 = { mustprogress nofree norecurse nosync nounwind willreturn memory(none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #2 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #3 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #4 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #5 = { "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #6 = { mustprogress nofree nosync nounwind willreturn memory(readwrite, inaccessiblemem: none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #7 = { mustprogress nofree norecurse nounwind willreturn memory(readwrite, inaccessiblemem: none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #8 = { mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: write) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #9 = { nofree nosync nounwind memory(write, argmem: readwrite, inaccessiblemem: none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #10 = { nofree nounwind memory(readwrite, inaccessiblemem: none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #11 = { nofree nosync nounwind memory(argmem: read) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #12 = { nofree norecurse nosync nounwind memory(read, inaccessiblemem: none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #13 = { nofree norecurse nosync nounwind memory(write, argmem: readwrite, inaccessiblemem: none) "min-legal-vector-width"="0" "no-builtins" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="x86-64" "target-features"="+cx8,+fxsr,+mmx,+sse,+sse2,+x87" "tune-cpu"="generic" }
attributes #14 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #15 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #16 = { nocallback nofree nosync nounwind willreturn memory(argmem: read) }
attributes #17 = { nobuiltin "no-builtins" }
attributes #18 = { nounwind }
attributes #19 = { nounwind memory(none) }
attributes #20 = { nobuiltin nounwind "no-builtins" }

!llvm.module.flags = !{!0, !1}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 8, !"PIC Level", i32 2}
!2 = distinct !{!2, !3}
!3 = !{!"llvm.loop.mustprogress"}
!4 = !{i64 74869}
!5 = !{i64 75293}
!6 = distinct !{!6, !3}
!7 = distinct !{!7, !3}
!8 = !{i64 78585}
!9 = !{i64 77309}
!10 = distinct !{!10, !3}
!11 = !{i64 77470}
!12 = distinct !{!12, !3}
!13 = distinct !{!13, !3}
!14 = distinct !{!14, !3}
!15 = distinct !{!15, !3}
!16 = distinct !{!16, !3}
!17 = distinct !{!17, !3}
!18 = distinct !{!18, !3}
!19 = distinct !{!19, !3}
!20 = distinct !{!20, !3}
!21 = distinct !{!21, !3}
!22 = distinct !{!22, !3}
!23 = distinct !{!23, !3}
!24 = distinct !{!24, !3}
!25 = distinct !{!25, !3}
!26 = distinct !{!26, !3}
!27 = distinct !{!27, !3}
!28 = distinct !{!28, !3}
!29 = distinct !{!29, !3}
!30 = distinct !{!30, !3}
!31 = distinct !{!31, !3}
!32 = distinct !{!32, !3}
!33 = distinct !{!33, !3}
!34 = distinct !{!34, !3}
!35 = distinct !{!35, !3}
!36 = distinct !{!36, !3}
!37 = distinct !{!37, !3}
